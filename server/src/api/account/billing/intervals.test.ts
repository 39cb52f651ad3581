import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BreakdownFilter } from './breakdown-schema'
import { readIntervals } from './intervals'
import { openTestDatabase } from '../../../../testing/db/database'
import type { Database } from '../../../platform/db/database'

const nowMs = Date.parse('2026-11-30T12:00:00Z')
const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

type Span = Pick<BreakdownFilter, 'start_date' | 'end_date' | 'time_zone' | 'granularity'>

const november: Span = { start_date: '2026-11-01', end_date: '2026-11-30', time_zone: 'UTC' }

const read = (span: Partial<Span>) => readIntervals(database.query, { ...november, ...span }, nowMs)

test('a period without a granularity is one interval', async () => {
  expect(await read({})).toEqual({
    starts: [new Date('2026-11-01T00:00:00Z')],
    end: new Date('2026-12-01T00:00:00Z'),
    grain: 'hour',
    quarters: [],
  })
})

test('a day on which clocks are set back has 25 hours', async () => {
  const day = { start_date: '2026-10-25', end_date: '2026-10-25', time_zone: 'Europe/Berlin' }
  const { starts, end } = await read({ ...day, granularity: 'hour' })
  expect(starts).toHaveLength(25)
  expect([starts[0], end]).toEqual([
    new Date('2026-10-24T22:00:00Z'),
    new Date('2026-10-25T23:00:00Z'),
  ])
})

test.each([
  ['Asia/Kolkata', ['18:30', '18:45']],
  ['Asia/Kathmandu', ['18:15', '18:30', '18:45']],
  ['Australia/Eucla', ['15:15', '15:30', '15:45']],
])('the hours that midnight in %s splits are read by the quarter', async (zone, times) => {
  const day = { start_date: '2026-11-10', end_date: '2026-11-10', time_zone: zone }
  const { quarters, grain } = await read({ ...day, granularity: 'day' })
  expect(grain).toBe('hour')
  expect(quarters.map((quarter) => quarter.toISOString().slice(0, 16))).toEqual(
    ['09', '10'].flatMap((date) => times.map((time) => `2026-11-${date}T${time}`)),
  )
})

const startsOf = async (granularity: 'week' | 'month') => {
  const span = { start_date: '2026-10-28', end_date: '2026-11-10' }
  const { starts } = await read({ ...span, granularity })
  return starts.map((start) => start.toISOString().slice(0, 10))
}

test('weeks begin on Monday, months on the first, and the first interval with the period', async () => {
  expect(await startsOf('week')).toEqual(['2026-10-28', '2026-11-02', '2026-11-09'])
  expect(await startsOf('month')).toEqual(['2026-10-28', '2026-11-01'])
})

describe('the period is rejected', () => {
  test.each([
    ['end_date', { end_date: '2026-10-01' }, 'start_date'],
    ['more than 366 days', { start_date: '2025-11-01' }, 'end_date'],
    ['hours of more than 31 days', { start_date: '2026-10-01', granularity: 'hour' }, 'end_date'],
    ['an unknown zone', { time_zone: 'Mars/Olympus' }, 'time_zone'],
    ['an offset', { time_zone: '+02:00' }, 'time_zone'],
    [
      'a zone of seconds',
      { start_date: '1971-11-01', end_date: '1971-11-02', time_zone: 'Africa/Monrovia' },
      'time_zone',
    ],
    [
      'days of a zone of half hours that only hours have',
      { start_date: '2026-07-01', time_zone: 'Asia/Kolkata' },
      'time_zone',
    ],
    [
      'days of a zone that only hours have',
      { start_date: '2026-07-01', time_zone: 'Asia/Tokyo' },
      'time_zone',
    ],
    [
      'hours that were deleted',
      { start_date: '2026-07-01', end_date: '2026-07-02', granularity: 'hour' },
      'granularity',
    ],
  ] as const)('%s', async (_case, filter, param) => {
    await expect(read(filter)).rejects.toMatchObject({ code: 'invalid_request', param })
  })
})

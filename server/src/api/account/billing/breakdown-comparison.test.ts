import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readBreakdown, toAccountFigures } from './breakdown'
import { toChange, toPreviousDays } from './breakdown-comparison'
import type { BreakdownFilter } from './breakdown-schema'
import { sourceOf } from './sum-source'
import { openTestDatabase } from '../../../../testing/db/database'
import { createCustomer } from '../../../../testing/ledger/customer'
import { addRequestSums } from '../../../../testing/request-logs/request-sums'
import type { Database } from '../../../platform/db/database'

const nowMs = Date.parse('2026-11-30T12:00:00Z')
const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const november: BreakdownFilter = {
  start_date: '2026-11-01',
  end_date: '2026-11-30',
  time_zone: 'UTC',
  group_by: 'model',
  limit: 100,
}

const read = (userId: string, filter: Partial<BreakdownFilter> = {}) =>
  readBreakdown(
    database.query,
    { ...sourceOf({ id: userId, organizationId: null }), toFigures: toAccountFigures },
    {
      filter: { ...november, ...filter },
      nowMs,
    },
  )

test.each([
  ['2026-11-01 2026-11-30', '2026-10-02 2026-10-31'],
  ['2026-11-30 2026-11-30', '2026-11-29 2026-11-29'],
  ['2026-03-01 2026-03-02', '2026-02-27 2026-02-28'],
])('the days before %s are %s', (days, daysBefore) => {
  const [start_date = '', end_date = ''] = days.split(' ')
  const before = toPreviousDays({ start_date, end_date })
  expect(`${before.start_date} ${before.end_date}`).toBe(daysBefore)
})

test('days that would begin before 1970 are rejected', async () => {
  const days = { start_date: '0001-01-01', end_date: '0001-01-02' }
  await expect(read('user_none', { ...days, compare: 'previous' })).rejects.toMatchObject({
    code: 'invalid_request',
    param: 'compare',
  })
})

test.each([
  [150n, 100n, 50],
  [1n, 3n, -66.67],
  [0n, 5n, -100],
  [5n, 0n, null],
])('%d after %d is a change of %p percent', (now, before, change) => {
  expect(toChange(now, before)).toBe(change)
})

test('an hour without quarters counts on the day in which it begins, in every range', async () => {
  const userId = await createCustomer(database)
  const old = ['hour', 'day']
  // Midnight in Kolkata is 18:30 in UTC.
  await addRequestSums(database, [
    { userId, at: '2026-11-09T18:45:00Z', requests: 10, cost: 1, grains: old },
  ])
  await addRequestSums(database, [
    { userId, at: '2026-11-09T18:45:00Z', model: 'fake/new', requests: 3, cost: 1 },
  ])
  const requestsOn = async (start_date: string, end_date = start_date) =>
    (await read(userId, { start_date, end_date, time_zone: 'Asia/Kolkata' })).total.requests
  expect([await requestsOn('2026-11-09'), await requestsOn('2026-11-10')]).toEqual([10, 3])
  expect(await requestsOn('2026-11-09', '2026-11-10')).toBe(13)
})

test('a comparison has the days before beside each group, the others and the total', async () => {
  const userId = await createCustomer(database)
  const [now, before] = ['2026-11-03T10:00:00Z', '2026-10-20T10:00:00Z']
  await addRequestSums(database, [
    { userId, at: now, model: 'one/a', requests: 3, cost: 4e9 },
    { userId, at: now, model: 'one/b', cost: 2e9 },
    { userId, at: now, model: 'one/c', cost: 1e9 },
    { userId, at: before, model: 'one/a', requests: 2, cost: 5e9 },
    { userId, at: before, model: 'one/c', cost: 1e9 },
    { userId, at: before, model: 'one/gone', cost: 3e9 },
    // The day before those days.
    { userId, at: '2026-10-01T23:59:00Z', model: 'one/a', cost: 9e9 },
  ])
  const breakdown = await read(userId, { compare: 'previous', limit: 2 })
  expect(breakdown.previous_period).toEqual({
    start: '2026-10-02T00:00:00.000Z',
    end: '2026-11-01T00:00:00.000Z',
  })
  expect(breakdown.groups).toMatchObject([
    {
      group: { id: 'one/a' },
      previous: { requests: 2, usage_cost: 5 },
      change: { requests: 50, usage_cost: -20, tokens: 0 },
    },
    {
      group: { id: 'one/b' },
      previous: { requests: 0, usage_cost: 0 },
      change: { usage_cost: null },
    },
  ])
  expect(breakdown.other).toMatchObject({ groups: 1, previous: { usage_cost: 4, requests: 2 } })
  expect(breakdown.total).toMatchObject({
    usage_cost: 7,
    previous: { usage_cost: 9, requests: 4 },
    change: { usage_cost: -22.22 },
  })
  const without = await read(userId)
  expect(without).toMatchObject({ previous_period: null, total: { previous: null, change: null } })
})

test('groups that have no usage now are in the others of a comparison', async () => {
  const userId = await createCustomer(database)
  await addRequestSums(database, [{ userId, at: '2026-10-20T10:00:00Z', cost: 3e9 }])
  const { groups, other, total } = await read(userId, { compare: 'previous' })
  expect(groups).toEqual([])
  expect(other).toMatchObject({ groups: 0, requests: 0, previous: { usage_cost: 3 } })
  expect(total).toMatchObject({ usage_cost: 0, change: { usage_cost: -100 } })
})

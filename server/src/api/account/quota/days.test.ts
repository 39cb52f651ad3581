import { expect, test } from 'bun:test'
import { listDays } from './days'
import { ApiError } from '../../../errors'

const nowMs = Date.UTC(2026, 2, 10, 15, 30)
const spanOf = (range: Parameters<typeof listDays>[0]) => {
  const days = listDays(range, nowMs)
  return [days.length, days[0], days.at(-1)]
}
const paramOf = (range: Parameters<typeof listDays>[0]) => {
  try {
    listDays(range, nowMs)
    return undefined
  } catch (thrown) {
    return thrown instanceof ApiError && [thrown.param, thrown.details['issue']]
  }
}

test('thirty days by default, today among them', () => {
  expect(spanOf({})).toEqual([30, '2026-03-10', '2026-02-09'])
  expect(spanOf({ end_date: '2026-03-01' })).toEqual([30, '2026-03-01', '2026-01-31'])
})

test('a date includes its whole day, a time ends at its moment', () => {
  expect(spanOf({ start_date: '2026-03-01', end_date: '2026-03-02' })).toEqual([
    2,
    '2026-03-02',
    '2026-03-01',
  ])
  expect(spanOf({ start_date: '2026-03-01', end_date: '2026-03-02T00:00:00Z' })).toEqual([
    1,
    '2026-03-01',
    '2026-03-01',
  ])
  expect(spanOf({ start_date: '2026-03-01T23:00:00-02:00', end_date: '2026-03-02' })[2]).toBe(
    '2026-03-02',
  )
  const moment = '2026-03-02T12:00:00Z'
  expect(spanOf({ start_date: moment, end_date: moment })).toEqual([0, undefined, undefined])
})

test('returns no future days', () => {
  expect(spanOf({ start_date: '2026-03-09', end_date: '2026-03-20' })).toEqual([
    2,
    '2026-03-10',
    '2026-03-09',
  ])
  expect(spanOf({ start_date: '2026-03-11', end_date: '2026-03-20' })[0]).toBe(0)
})

test('at most 366 days, and not backwards', () => {
  const issue = ['start_date', 'out_of_range']
  expect(spanOf({ start_date: '2025-03-10' })[0]).toBe(366)
  expect(spanOf({ start_date: '2024-01-01', end_date: '2024-12-31' })[0]).toBe(366)
  expect(paramOf({ start_date: '2025-03-09' })).toEqual(issue)
  expect(paramOf({ start_date: '2026-03-02', end_date: '2026-03-01' })).toEqual(issue)
  expect(paramOf({ start_date: '2026-03-11' })).toEqual(issue)
})

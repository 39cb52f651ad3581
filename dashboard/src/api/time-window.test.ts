import { expect, test } from 'bun:test'
import { toTimeWindow } from './time-window'

const nowMs = Date.UTC(2026, 10, 28, 12, 45, 10, 5)
const end_date = '2026-11-28T12:45:10.005Z'

test('finding B9: 24 hours are 24 bars, the current hour included', () => {
  const start_date = '2026-11-27T13:00:00.000Z'
  expect(toTimeWindow('24h', nowMs)).toEqual({ start_date, end_date, granularity: 'hour' })
})

test('finding B9: 7 and 30 days are as many bars, days in UTC, today included', () => {
  const day = { end_date, granularity: 'day' } as const
  expect(toTimeWindow('7d', nowMs)).toEqual({ ...day, start_date: '2026-11-22T00:00:00.000Z' })
  expect(toTimeWindow('30d', nowMs)).toEqual({ ...day, start_date: '2026-10-30T00:00:00.000Z' })
})

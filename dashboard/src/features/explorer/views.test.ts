import { expect, test } from 'bun:test'
import { toViewParameters, toViewSearch } from './views'

const nowMs = Date.parse('2026-11-30T12:00:00Z')
const laterMs = Date.parse('2026-12-10T12:00:00Z')

test('a view of a preset follows the calendar', () => {
  const search = { from: '2026-11-01', to: '2026-11-30', by: 'key' as const }
  const parameters = toViewParameters(search, nowMs, 'UTC')
  expect(parameters).toEqual({ period: 'last_30_days', group_by: 'key' })
  expect(toViewSearch(parameters, laterMs, 'UTC')).toMatchObject({
    from: '2026-11-11',
    to: '2026-12-10',
    by: 'key',
  })
})

test('a view of other days keeps them, its filters, and the comparison', () => {
  const search = {
    from: '2026-11-03',
    to: '2026-11-05',
    split: 'model' as const,
    compare: 'previous' as const,
    member: 'user_1',
  }
  const parameters = toViewParameters(search, nowMs, 'UTC')
  expect(parameters).toEqual({
    start_date: '2026-11-03',
    end_date: '2026-11-05',
    split_by: 'model',
    compare: 'previous',
    member_id: 'user_1',
  })
  expect(toViewSearch(parameters, laterMs, 'UTC')).toMatchObject(search)
})

test('a view of an address without days is of the last 30', () => {
  expect(toViewParameters({}, nowMs, 'UTC')).toEqual({ period: 'last_30_days' })
})

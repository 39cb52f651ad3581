import { expect, test } from 'bun:test'
import { findView, listViewDays, toViewParameters, toViewSearch, type SavedView } from './views'

const nowMs = Date.parse('2026-11-30T12:00:00Z')
const laterMs = Date.parse('2026-12-10T12:00:00Z')
const today = { nowMs, zone: 'UTC' }
const november = { from: '2026-11-01', to: '2026-11-30' }

test('a view can have the presets that are its days today, and the days themselves', () => {
  const days = listViewDays(november, nowMs, 'UTC')
  expect(days.map(({ period }) => period)).toEqual(['last_30_days', 'this_month', undefined])
  expect(listViewDays({ from: '2026-11-03', to: '2026-11-05' }, nowMs, 'UTC')).toHaveLength(1)
})

test('a view of a preset follows the calendar', () => {
  const search = { ...november, by: 'key' as const }
  const parameters = toViewParameters(search, { period: 'last_30_days' }, today)
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
  const parameters = toViewParameters(search, {}, today)
  expect(parameters).toEqual({
    start_date: '2026-11-03',
    end_date: '2026-11-05',
    split_by: 'model',
    compare: 'previous',
    member_id: 'user_1',
  })
  expect(toViewSearch(parameters, laterMs, 'UTC')).toMatchObject(search)
})

test('the view of the current search is found, also where two presets are the same days', () => {
  const view: SavedView = {
    id: 'view_1',
    organization_id: null,
    name: 'Month',
    parameters: { period: 'this_month', compare: 'previous' },
    created_at: '2026-11-01T00:00:00Z',
    updated_at: '2026-11-01T00:00:00Z',
  }
  const search = toViewSearch(view.parameters, nowMs)
  expect(findView([view], search, nowMs)).toBe(view)
  expect(findView([view], { ...search, compare: undefined }, nowMs)).toBeUndefined()
})

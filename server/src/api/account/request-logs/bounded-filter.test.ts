import { expect, test } from 'bun:test'
import { toBoundedFilter } from './bounded-filter'
import { getIdTime, newId } from '../../../platform/db/id'
import { toLogSearch } from '../../../request-logs/log-search'

const dayMs = 86_400_000
const end = new Date('2026-11-20T12:00:00Z')
const daysBefore = (days: number) => new Date(end.getTime() - days * dayMs)

test('errors are searched in the last days before the end, or from a start that the client names', () => {
  const search = { errorText: 'timeout' }
  expect(toBoundedFilter({ search, end_date: end }).start_date).toEqual(daysBefore(7))
  expect(toBoundedFilter({ search, end_date: end }, 1).start_date).toEqual(daysBefore(1))
  const start = daysBefore(20)
  expect(toBoundedFilter({ search, start_date: start, end_date: end }).start_date).toEqual(start)
})

test('a search by id covers the time in the id, within the period that the client names', () => {
  const id = newId('req', daysBefore(3).getTime())
  const search = toLogSearch(id)
  const bounded = toBoundedFilter({ search })
  expect(bounded.start_date?.getTime()).toBeLessThanOrEqual(getIdTime(id))
  expect(bounded.end_date?.getTime()).toBeGreaterThanOrEqual(getIdTime(id))
  const later = { search, start_date: daysBefore(1), end_date: end }
  expect(toBoundedFilter(later).start_date).toEqual(daysBefore(1))
  const earlier = { search, end_date: daysBefore(9) }
  expect(toBoundedFilter(earlier).end_date).toEqual(daysBefore(9))
})

test('a filter without a search stays as it is', () => {
  expect(toBoundedFilter({ model: 'fake/a' })).toEqual({ model: 'fake/a' })
})

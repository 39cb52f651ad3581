import { expect, test } from 'bun:test'
import { allRows, firstPosition, pageQuery, rowsOnPage, toNextPosition, toRows } from './paging'

test('the first page begins at the first row, and a filter stays', () => {
  expect(pageQuery({ search: 'a' })).toEqual({ search: 'a', limit: rowsOnPage, offset: 0 })
})

test('a page begins after all rows of the pages before it', () => {
  expect(pageQuery({}, 3)).toEqual({ limit: rowsOnPage, offset: 2 * rowsOnPage })
})

test('loaded pages are joined in their order, with the total that the first one reports', () => {
  const pages = [
    { ids: [1, 2], pagination: { total: 3 } },
    { ids: [3], pagination: { total: 4 } },
  ]
  expect(toRows(pages, ({ ids }) => ids)).toEqual({ items: [1, 2, 3], total: 3 })
})

test('a list without a page has no rows', () => {
  expect(toRows([], () => [])).toEqual({ items: [], total: 0 })
})

test('a list without pages counts its own rows', () => {
  expect(allRows(['a', 'b'])).toEqual({ items: ['a', 'b'], total: 2 })
})

test('the last page has no next position', () => {
  expect(firstPosition.cursor).toBeUndefined()
  expect(toNextPosition({ pagination: { next_cursor: 'c' } })).toEqual({ cursor: 'c' })
  expect(toNextPosition({ pagination: { next_cursor: null } })).toBeUndefined()
})

import { expect, test } from 'bun:test'
import { integerOf, oneOf, pageOf, present, textOf } from './search'

test.each([
  ['abc', 'abc'],
  [42, '42'],
  [0, '0'],
  ['', undefined],
  [true, undefined],
  [['a'], undefined],
  [undefined, undefined],
])('a search for %p is the text %p', (value, expected) => {
  expect(textOf({ search: value }, 'search')).toBe(expected)
})

test('a value that is not in the list is absent', () => {
  const values = ['hour', 'day'] as const
  expect(oneOf({ range: 'day' }, 'range', values)).toBe('day')
  expect(oneOf({ range: 'year' }, 'range', values)).toBeUndefined()
  expect(oneOf({}, 'range', values)).toBeUndefined()
})

test.each([
  [0, 0],
  [7, 7],
  [-1, undefined],
  [1.5, undefined],
  [Number.MAX_SAFE_INTEGER + 1, undefined],
  ['7', undefined],
])('the number %p of an address is read as %p', (value, expected) => {
  expect(integerOf({ code: value }, 'code')).toBe(expected)
})

test.each([
  [2, 2],
  [9999, 9999],
  [1, undefined],
  [0, undefined],
  [10_000, undefined],
  ['2', undefined],
])('page %p of an address is page %p of the list', (page, expected) => {
  expect(pageOf({ page })).toBe(expected)
})

test('absent values leave no parameter, and empty ones stay', () => {
  expect(present({ a: undefined, b: '', c: 0 })).toEqual({ b: '', c: 0 })
})

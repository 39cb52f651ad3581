import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ownPath, textsIn } from './address'

/** The address at which the page is open. */
beforeAll(() => {
  Object.defineProperty(globalThis, 'window', {
    value: { location: { origin: 'https://gateway.example' } },
    configurable: true,
  })
})
afterAll(() => {
  Reflect.deleteProperty(globalThis, 'window')
})

test('numbers and switches of an address are texts again', () => {
  const read = textsIn('search', 'free', 'model')
  expect(read({ search: 7, free: true, model: 'a' })).toEqual({
    search: '7',
    free: 'true',
    model: 'a',
  })
})

test('empty, unknown and structured parameters are dropped', () => {
  const read = textsIn('search', 'model')
  expect(read({ search: '', model: ['a'], other: 'b' })).toEqual({})
})

test.each([
  ['/', '/'],
  ['/logs?open=req_1#top', '/logs?open=req_1#top'],
  ['/a/../keys', '/keys'],
])('%s leads to %s of the dashboard', (address, expected) => {
  expect(ownPath(address)).toBe(expected)
})

test.each([
  ['https://other.example/'],
  ['//other.example/'],
  ['/\\other.example/'],
  ['/\t/other.example/'],
  ['/.//other.example'],
  ['logs'],
  ['javascript:alert(1)'],
  [''],
  [null],
  [undefined],
])('%p leads to no page of the dashboard', (address) => {
  expect(ownPath(address)).toBeUndefined()
})

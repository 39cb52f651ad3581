import { expect, spyOn, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { isId, newId, generateIdBody, getIdTime } from './id'

test('an id is its prefix and 26 characters of lower-case Crockford base 32', () => {
  for (let count = 0; count < 1000; count++) {
    const id = newId('req')
    expect(id).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(isId('req', id)).toBe(true)
    expect(isId('key', id)).toBe(false)
  }
})

test('ids sort by time', () => {
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })
  const property = fc.property(time, time, (a, b) => {
    if (a < b) expect(generateIdBody(a) < generateIdBody(b)).toBe(true)
    expect(generateIdBody(a).slice(0, 10)).toBe(generateIdBody(a).slice(0, 10))
  })
  fc.assert(property)
})

test('ids of one process sort in the order of their creation, in one millisecond too', () => {
  let createdAtMs = 1_700_000_000_000
  const clock = spyOn(Date, 'now').mockImplementation(() => createdAtMs)
  const ids = Array.from({ length: 10_000 }, (_, nth) => {
    if (nth % 500 === 499) createdAtMs += 1
    // An id of another time, as the bound of a search, changes nothing.
    generateIdBody(1)
    return newId('req')
  })
  clock.mockRestore()
  expect(ids.toSorted()).toEqual(ids)
})

test('the first ids of a millisecond differ between processes: their count begins anywhere', () => {
  let createdAtMs = 1_700_000_000_000
  const clock = spyOn(Date, 'now').mockImplementation(() => createdAtMs)
  const counts = new Set<string>()
  for (; createdAtMs < 1_700_000_001_000; createdAtMs++) counts.add(generateIdBody().slice(10, 12))
  clock.mockRestore()
  expect(counts.size).toBeGreaterThan(300)
})

test('an id contains its creation time', () => {
  const property = fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
    expect(getIdTime(`req_${generateIdBody(ms)}`)).toBe(ms)
  })
  fc.assert(property)
})

test('a hundred thousand ids of one millisecond are all different', () => {
  const ids = new Set(Array.from({ length: 100_000 }, () => generateIdBody(1)))
  expect(ids.size).toBe(100_000)
})

test('A10: no other text is an id', () => {
  const property = fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
    expect(isId('user', text)).toBe(false)
    expect(isId('user', `user_${text}`)).toBe(/^[0-9a-hjkmnp-tv-z]{26}$/.test(text))
  })
  fc.assert(property)
  expect(isId('user', `user_${generateIdBody()}\n`)).toBe(false)
  expect(isId('user', `user_${generateIdBody().slice(1)}I`)).toBe(false)
})

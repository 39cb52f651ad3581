import { expect, test } from 'bun:test'
import { countMedia, speechNeed, toImageNeed, toSoundNeed } from './media-need'

test('a request for images needs n, and one without it', () => {
  expect(toImageNeed(4)).toEqual({ unit: 'images', amount: 4 })
  expect(toImageNeed(null)).toEqual({ unit: 'images', amount: 1 })
  expect(toImageNeed(undefined)).toEqual({ unit: 'images', amount: 1 })
})

test.each([
  [0, 1],
  [1, 1],
  [1000, 1],
  [1001, 2],
  [59_999, 60],
])('sound of %d ms needs %d seconds', (ms, amount) => {
  expect(toSoundNeed(ms)).toEqual({ unit: 'audioSeconds', amount })
})

test('images count as they were made, and never more than requested', () => {
  const need = toImageNeed(3)
  expect([0, 2, 3, 9].map((madeImages) => countMedia(need, { madeImages }))).toEqual([0, 2, 3, 3])
  expect(countMedia(need, {})).toBe(0)
})

test('sound counts in whole seconds, also beyond the reservation', () => {
  expect(countMedia(toSoundNeed(1000), { audioMs: 10_000 })).toBe(10)
  expect(countMedia(speechNeed, { spokenMs: 2001 })).toBe(3)
  expect(countMedia(speechNeed, {})).toBe(0)
})

import { expect, test } from 'bun:test'
import { countNew, lookFrom } from './new-items'

const item = (id: string, created_at = '2026-11-28T12:00:00.000Z') => ({ id, created_at })

test('finding B17: a list counts missing items, also if they began earlier', () => {
  const listed = [item('b'), item('a', '2026-11-28T11:59:00.000Z')]
  const found = [
    item('d', '2026-11-28T12:01:00.000Z'),
    item('b'),
    item('c', '2026-11-28T11:59:30.000Z'),
  ]
  expect(countNew(listed, found)).toBe(2)
  expect(countNew(listed, listed)).toBe(0)
})

test('finding B17: a list looks from its newest item on, an empty one from when it was loaded', () => {
  expect(lookFrom([item('a')], 0)).toBe('2026-11-28T11:59:00.000Z')
  expect(lookFrom([], Date.UTC(2026, 10, 28, 13))).toBe('2026-11-28T12:59:00.000Z')
})

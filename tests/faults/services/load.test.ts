import { describe, expect, test } from 'bun:test'
import { maxInAll, maxPerMinute } from './load'

const admittedAt = (startMs: number, endMs: number) => ({
  status: 200,
  atMs: endMs,
  tookMs: endMs - startMs,
})

describe('admissions of a load', () => {
  test('count where they are certainly within one minute', () => {
    const prompt = Array.from({ length: 61 }, (_, index) =>
      admittedAt(index * 900, index * 900 + 5),
    )
    expect(maxPerMinute(prompt)).toBe(61)
    const spread = prompt.map((_, index) => admittedAt(index * 1000, index * 1000 + 5))
    expect(maxPerMinute(spread)).toBe(60)
  })

  test('may fall in the window before if they were late', () => {
    const early = Array.from({ length: 60 }, () => admittedAt(0, 17_000))
    const next = Array.from({ length: 60 }, () => admittedAt(55_000, 61_500))
    expect(maxPerMinute([...early, ...next])).toBe(60)
    expect(maxInAll([...early, ...next], 60)).toBe(120)
  })

  test('do not count if they are rejected', () => {
    expect(maxPerMinute([admittedAt(0, 5), { ...admittedAt(1, 6), status: 429 }])).toBe(1)
    expect(maxPerMinute([])).toBe(0)
  })
})

import { expect, test } from 'bun:test'
import { CachedValue } from './cached-value'

function reader() {
  const source = { nowMs: 0, readings: 0, isAway: false }
  const kept = new CachedValue({
    keepMs: 1000,
    now: () => source.nowMs,
    read: async () => {
      source.readings += 1
      if (source.isAway) throw new Error('away')
      return source.readings
    },
  })
  return { kept, source }
}

test('concurrent reads share one load, and the value is cached for its lifetime', async () => {
  const { kept, source } = reader()
  expect(await Promise.all([kept.get(), kept.get(), kept.get()])).toEqual([1, 1, 1])
  source.nowMs = 999
  expect(await kept.get()).toBe(1)
  source.nowMs = 1000
  expect(await kept.get()).toBe(2)
})

test('onDeleted invalidates the value, also during a load', async () => {
  const { kept } = reader()
  const before = kept.get()
  kept.invalidate()
  expect(await kept.get()).toBe(2)
  expect(await before).toBe(1)
  expect(await kept.get()).toBe(2)
})

test('a failed reading leaves the last one in use for five minutes', async () => {
  const { kept, source } = reader()
  await kept.get()
  source.isAway = true
  source.nowMs = 299_999
  expect(await kept.get()).toBe(1)
  source.nowMs = 300_000
  await expect(kept.get()).rejects.toThrow('away')
  source.isAway = false
  expect(await kept.get()).toBeGreaterThan(1)
})

test("without a cached value the load's failure rejects, and the next read loads again", async () => {
  const { kept, source } = reader()
  source.isAway = true
  await expect(kept.get()).rejects.toThrow('away')
  source.isAway = false
  expect(await kept.get()).toBe(2)
})

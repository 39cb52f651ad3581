import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { LRUCache } from 'lru-cache'
import { limitEntries } from './cache-limit'

test('a limited cache evicts the entry that was used longest ago, and no other', () => {
  const cache = new LRUCache<string, number>(limitEntries(2))
  cache.set('a', 1).set('b', 2)
  cache.get('a')
  cache.set('a', 3).set('c', 4)
  expect([...cache.entries()]).toEqual([
    ['c', 4],
    ['a', 3],
  ])
})

test('a limited cache takes memory for its entries, not for its limit', () => {
  Bun.gc(true)
  const before = heapStats().heapSize
  const cache = new LRUCache<string, number>(limitEntries(1_000_000))
  cache.set('a', 1)
  Bun.gc(true)
  expect(heapStats().heapSize - before).toBeLessThan(1_000_000)
  expect(cache.get('a')).toBe(1)
})

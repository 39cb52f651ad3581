import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { Pause } from './pause'

const promises = () => {
  Bun.gc(true)
  return heapStats().objectTypeCounts['Promise'] ?? 0
}

test('a pause ends by itself', async () => {
  const startedAt = performance.now()
  await new Pause().take(20)
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19)
})

test('a pause that is ended ends at once, and the next one is a whole one', async () => {
  const pause = new Pause()
  const startedAt = performance.now()
  const taken = pause.take(60_000)
  pause.end()
  await taken
  pause.end()
  await pause.take(20)
  const tookMs = performance.now() - startedAt
  expect(tookMs).toBeGreaterThanOrEqual(19)
  expect(tookMs).toBeLessThan(30_000)
})

test('nothing stays of a thousand pauses', async () => {
  const pause = new Pause()
  const before = promises()
  for (let count = 0; count < 1000; count++) await pause.take(0)
  expect(promises() - before).toBeLessThan(100)
})

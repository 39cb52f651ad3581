import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { CancellableDelay } from './cancellable-delay'

const promises = () => {
  Bun.gc(true)
  return heapStats().objectTypeCounts['Promise'] ?? 0
}

test('waits for the whole time unless it is cancelled', async () => {
  const startedAt = performance.now()
  await new CancellableDelay().wait(20)
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19)
})

test('resolves at once when it is cancelled, and the next wait takes its whole time', async () => {
  const delay = new CancellableDelay()
  const startedAt = performance.now()
  // Longer than the test may take.
  const waiting = delay.wait(600_000)
  delay.cancel()
  await waiting
  delay.cancel()
  await delay.wait(20)
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19)
})

test('keeps no promises after a thousand waits', async () => {
  const delay = new CancellableDelay()
  const before = promises()
  for (let count = 0; count < 1000; count++) await delay.wait(0)
  expect(promises() - before).toBeLessThan(100)
})

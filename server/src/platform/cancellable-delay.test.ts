import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { CancellableDelay } from './cancellable-delay'
import { TestClock } from '../../testing/clock'

const promises = () => {
  Bun.gc(true)
  return heapStats().objectTypeCounts['Promise'] ?? 0
}

test('waits for the whole time unless it is cancelled', async () => {
  const clock = new TestClock()
  let isOver = false
  const waiting = new CancellableDelay(clock).wait(20).then(() => (isOver = true))
  await clock.advance(19)
  expect(isOver).toBe(false)
  await clock.advance(1)
  expect(isOver).toBe(true)
  await waiting
})

test('resolves at once when it is cancelled, and the next wait takes its whole time', async () => {
  const clock = new TestClock()
  const delay = new CancellableDelay(clock)
  const waiting = delay.wait(600_000)
  delay.cancel()
  await waiting
  // Nothing is left of the one that was cancelled.
  expect(clock.pending).toBe(0)
  delay.cancel()
  let isOver = false
  const next = delay.wait(20).then(() => (isOver = true))
  await clock.advance(19)
  expect(isOver).toBe(false)
  await clock.advance(1)
  expect(isOver).toBe(true)
  await next
})

test('keeps no promises after a thousand waits', async () => {
  const clock = new TestClock()
  const delay = new CancellableDelay(clock)
  const before = promises()
  for (let count = 0; count < 1000; count++) await clock.run(delay.wait(5))
  expect(promises() - before).toBeLessThan(100)
})

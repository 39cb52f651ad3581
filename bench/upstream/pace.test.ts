import { expect, test } from 'bun:test'
import { Pace } from './pace'

/** A stream that counts its pieces, and ends after `max`. */
function stream(max = Infinity) {
  const state = { pieces: 0, step: () => ++state.pieces < max }
  return state
}

test('streams of several gaps keep their own pace, whichever was first', async () => {
  const pace = new Pace()
  const [slow, fast, hasty] = [stream(), stream(20), stream(20)]
  pace.add(slow, 1000)
  pace.add(fast, 2)
  pace.add(hasty, 0)
  const startedAt = performance.now()
  while (fast.pieces < 20) await Bun.sleep(1)
  expect(performance.now() - startedAt).toBeGreaterThan(30)
  expect(hasty.pieces).toBe(20)
  while (slow.pieces < 2) await Bun.sleep(5)
  expect(performance.now() - startedAt).toBeGreaterThan(995)
  pace.remove(slow)
  const { pieces } = slow
  await Bun.sleep(1100)
  expect(slow.pieces).toBe(pieces)
})

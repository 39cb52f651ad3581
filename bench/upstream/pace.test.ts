import { expect, test } from 'bun:test'
import { Pace } from './pace'
import { TestClock } from '../../server/testing/clock'
import { eventually } from '../../server/testing/eventually'

/** A stream that counts its pieces, and ends after `max`. */
function stream(max = Infinity) {
  const state = { pieces: 0, step: () => ++state.pieces < max }
  return state
}

test('streams of several gaps keep their own pace, whichever was first', async () => {
  const clock = new TestClock()
  const pace = new Pace(clock)
  const [slow, fast, hasty] = [stream(), stream(20), stream(20)]
  pace.add(slow, 1000)
  pace.add(fast, 2)
  pace.add(hasty, 0)
  // Without a gap, no time has to pass.
  await eventually(() => hasty.pieces === 20)
  expect([slow.pieces, fast.pieces]).toEqual([1, 1])
  await clock.advance(37)
  expect(fast.pieces).toBe(19)
  await clock.advance(1)
  expect(fast.pieces).toBe(20)
  await clock.advance(1000 - 38 - 1)
  expect([slow.pieces, fast.pieces]).toEqual([1, 20])
  await clock.advance(1)
  expect(slow.pieces).toBe(2)
  pace.remove(slow)
  await clock.advance(1100)
  expect(slow.pieces).toBe(2)
  expect(clock.pending).toBe(0)
})

test('a stall of the event loop is made up for, by one round at most', async () => {
  const clock = new TestClock()
  const pace = new Pace(clock)
  const [slow, fast] = [stream(), stream()]
  pace.add(slow, 1000)
  pace.add(fast, 2)
  await clock.stall(1000)
  expect([slow.pieces, fast.pieces]).toEqual([2, 2])
})

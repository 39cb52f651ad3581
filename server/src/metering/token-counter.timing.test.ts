import { afterAll, expect, test } from 'bun:test'
import { TokenCounter } from './token-counter'
import { recordFigure, recordTimeFigure } from '../../testing/figures'

const warm = new TokenCounter({ deadlineMs: 25_000 })
afterAll(() => warm[Symbol.dispose]())

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** The longest time in milliseconds that the event loop was away while `work` went on. */
async function maxTurnMs(work: Promise<unknown>): Promise<number> {
  const state = { pending: true }
  const done = work.finally(() => {
    state.pending = false
  })
  let maxMs = 0
  while (state.pending) {
    const before = performance.now()
    await nextTurn()
    maxMs = Math.max(maxMs, performance.now() - before)
  }
  await done
  return maxMs
}

test('an unbroken run takes little time and leaves the event loop free', async () => {
  const unbroken = '漢'.repeat(60_000)
  await warm.count(['warm'])
  const maxMs = await recordTimeFigure('counting 60,000 characters', { atMost: 100 }, () =>
    maxTurnMs(warm.count([unbroken], { deadlineMs: 60_000 })),
  )
  recordFigure('delay of the loop by counting', maxMs, { unit: 'ms', atMost: 50 })
})

test('a million tokens are decoded without holding the event loop', async () => {
  const tokens = [Array.from({ length: 1_000_000 }, (_, index) => index % 100_000)]
  const decoded = warm.decode(tokens, { deadlineMs: 60_000 })
  const maxMs = await maxTurnMs(decoded)
  expect(await decoded).toHaveLength(1)
  recordFigure('delay of the loop by decoding', maxMs, { unit: 'ms', atMost: 50 })
})

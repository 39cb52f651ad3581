import { afterAll, beforeAll, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import * as fc from 'fast-check'
import { startRedis, type RedisServer } from './redis-server'
import { counting, endText, takeText } from '../../server/src/policy/limit-scripts'
import { SlidingWindow, slotMs } from '../../server/src/policy/sliding-window'

/** The scripts as they are, by a clock of the test's. */
const clock = 'local clockMs = tonumber(table.remove(ARGV))\n'
const takeScript = counting(takeText, clock)
const endScript = counting(endText, clock)

let redis: RedisServer
let client: RedisClient

beforeAll(async () => {
  redis = await startRedis()
  client = new RedisClient(redis.url)
  for (const { text } of [takeScript, endScript]) await client.send('SCRIPT', ['LOAD', text])
})
afterAll(async () => {
  client.close()
  await redis[Symbol.asyncDispose]()
})

const run = async (hash: string, args: readonly (string | number)[]) => {
  const answer: unknown = await client.send('EVALSHA', [hash, '1', ...args.map(String)])
  return Array.isArray(answer) ? answer.map(Number) : []
}

const step = fc.record({
  pause: fc.oneof(
    fc.integer({ min: 0, max: slotMs }),
    fc.integer({ min: slotMs, max: 20_000 }),
    fc.integer({ min: -7_200_000, max: 100_000 }),
  ),
  weight: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 })),
  delta: fc.option(fc.integer({ min: -60, max: 60 }), { freq: 3 }),
})

let windows = 0

test('R07: the script counts exactly as the window of one process does', async () => {
  let steps = 0
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 25 }),
    fc.integer({ min: 1, max: 80 }),
    async (list, limit) => {
      const key = `window:${(windows += 1)}`
      const window = new SlidingWindow()
      let nowMs = 1_800_000_000_000
      for (const { pause, weight, delta } of list) {
        nowMs += pause
        steps += 1
        const waitMs = window.waitMs(weight, limit, nowMs)
        const slot = waitMs === 0 ? window.add(weight, nowMs) : undefined
        const answer = await run(takeScript.hash, [key, 1, weight, 'id', limit, nowMs])
        expect(answer.slice(0, 4)).toEqual([
          waitMs > 0 ? 1 : 0,
          waitMs === Infinity ? -1 : waitMs,
          window.used(nowMs),
          window.resetMs(nowMs),
        ])
        if (slot === undefined || delta === null) continue
        expect(answer[4]).toBe(slot)
        window.correct(slot, delta, nowMs)
        await run(endScript.hash, [key, 1, delta, 'id', slot, nowMs])
      }
    },
  )
  await fc.assert(property, { numRuns: 10_000 })
  expect(steps).toBeGreaterThan(50_000)
}, 120_000)

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { RedisClient } from 'bun'
import * as fc from '../../server/testing/property'
import { startRedis, type RedisServer } from './redis-server'
import type { Granted, CounterTake, BucketUse } from '../../server/src/limits/counters'
import { batchText, counting } from '../../server/src/limits/limit-scripts'
import { MemoryCounters } from '../../server/src/limits/memory-counters'
import { SlidingWindow, slotMs } from '../../server/src/limits/sliding-window'

/** The actual script, with a clock controlled by the test. */
const script = counting(batchText, 'local clockMs = tonumber(table.remove(ARGV))\n')

let redis: RedisServer
let client: RedisClient

beforeAll(async () => {
  redis = await startRedis()
  client = new RedisClient(redis.url)
  await client.send('SCRIPT', ['LOAD', script.text])
})
afterAll(async () => {
  client.close()
  await redis[Symbol.asyncDispose]()
})

/** Runs the script with several operations, at a given time. */
async function run(keys: readonly string[], operations: readonly unknown[], nowMs: number) {
  const args = [String(keys.length), ...keys, JSON.stringify(operations), String(nowMs)]
  const answers: unknown = JSON.parse(String(await client.send('EVALSHA', [script.hash, ...args])))
  return Array.isArray(answers) ? answers : []
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

test('R07: the script counts exactly like the window of one process', async () => {
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
        const [answer] = await run([key], [[1, weight, 'id', [1], [limit], [], []]], nowMs)
        expect(answer.slice(0, 4)).toEqual([
          waitMs > 0 ? 1 : 0,
          waitMs === Infinity ? -1 : waitMs,
          window.used(nowMs),
          window.resetMs(nowMs),
        ])
        if (slot === undefined || delta === null) continue
        expect(answer[4]).toBe(slot)
        window.correct(slot, delta, nowMs)
        await run([key], [[0, delta, 'id', [1], [slot], []]], nowMs)
      }
    },
  )
  const runs = fc.runsOf(10_000)
  await fc.assert(property, { numRuns: runs })
  expect(steps).toBeGreaterThan(5 * runs)
}, 120_000)

const operation = fc.record({
  isEnd: fc.boolean(),
  weight: fc.integer({ min: 0, max: 5 }),
  delta: fc.integer({ min: -5, max: 3 }),
})
const batch = fc.record({
  // Eight of them are shorter than the lifetime of a slot without renewal.
  pause: fc.integer({ min: 0, max: 14_000 }),
  operations: fc.array(operation, { minLength: 1, maxLength: 8 }),
})

test('operations of one batch count as if in sequence: windows, concurrency slots, refunds', async () => {
  const property = fc.asyncProperty(
    fc.array(batch, { minLength: 1, maxLength: 8 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 4 }),
    async (batches, limit, most) => {
      const name = `batch:${(windows += 1)}`
      const keys = [`${name}:key`, `${name}:account`, `${name}:places`]
      let nowMs = 1_800_000_000_000
      const counters = new MemoryCounters(() => nowMs)
      const limits = [limit, limit + 3]
      const demandOf = (weight: number) => ({
        windows: limits.map((one, at) => ({ id: `window ${at}`, limit: one })),
        weight,
        running: [{ id: 'places', limit: most }],
      })
      /** The running requests, by id, oldest first. */
      const running: { id: string; granted: Granted; slot: number }[] = []
      let ids = 0
      for (const { pause, operations } of batches) {
        nowMs += pause
        const slot = Math.floor(nowMs / slotMs)
        const sent: unknown[] = []
        const expected: unknown[] = []
        for (const { isEnd, weight, delta } of operations) {
          const first = isEnd ? running.shift() : undefined
          if (first) {
            first.granted.end(delta)
            sent.push([0, delta, first.id, [1, 2], [first.slot, first.slot], [3]])
            expected.push(0)
            continue
          }
          const id = `request ${(ids += 1)}`
          const taken = counters.take(demandOf(weight))
          sent.push([1, weight, id, [1, 2], limits, [3], [most]])
          expected.push(toAnswer(taken, counters.look(demandOf(weight)), slot))
          if (taken.kind === 'granted') running.push({ id, granted: taken, slot })
        }
        expect(await run(keys, sent, nowMs)).toEqual(expected)
      }
    },
  )
  await fc.assert(property, { numRuns: 2000 })
}, 60_000)

test('an operation on a key of another type fails without affecting others in its batch', async () => {
  const nowMs = 1_800_000_000_000
  await client.send('LPUSH', ['batch:damaged', 'a list'])
  const keys = ['batch:damaged', 'batch:sound', 'batch:sound-places']
  const takes = [
    [1, 1, 'one', [2], [10], [3], [2]],
    [1, 1, 'two', [1], [10], [], []],
    [0, -1, 'three', [1], [7], [1]],
    [1, 1, 'four', [2], [10], [3], [2]],
    [1, Number.POSITIVE_INFINITY, 'five', [2], [10], [], []],
  ]
  const slot = Math.floor(nowMs / slotMs)
  const [one, two, three, four, five] = await run(keys, takes, nowMs)
  expect([two, three, five]).toEqual([null, null, null])
  expect(one).toEqual([0, 0, 1, 60_000, slot])
  expect(four).toEqual([0, 0, 2, 60_000, slot])
  // The other counts of the batch are kept.
  expect(await run(keys.slice(1), [[1, 1, 'six', [1], [10], [2], [2]]], nowMs)).toEqual([
    [2, 0, 2, 60_000, slot],
  ])
})

const takeOne = () => run(['batch:full'], [[1, 1, 'one', [1], [10], [], []]], 1_800_000_000_000)

test('where Redis cannot store the count, nothing is granted', async () => {
  await client.send('CONFIG', ['SET', 'maxmemory', '1'])
  try {
    expect(await takeOne().catch(() => 'refused')).toBe('refused')
  } finally {
    await client.send('CONFIG', ['SET', 'maxmemory', '0'])
  }
  expect(await takeOne()).toEqual([[0, 0, 1, 60_000, 7_200_000_000]])
})

/** Converts a decision to the script's format. */
function toAnswer(taken: CounterTake, used: readonly BucketUse[], slot: number): number[] {
  const [key, account] = used
  const readings = [key, account].flatMap((one) => [one?.used ?? 0, one?.resetMs ?? 0, slot])
  if (taken.kind === 'granted') return [0, 0, ...readings]
  const { reading, by, waitMs } = taken
  const refusedBy = by === 'running' ? 3 : reading.id === 'window 0' ? 1 : 2
  const wait = by === 'running' ? 0 : waitMs
  return [refusedBy, wait === Infinity ? -1 : wait, ...readings]
}

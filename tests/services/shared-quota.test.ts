import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startRedis, type RedisServer } from './redis-server'
import { SharedCounters } from '../../server/src/limits/shared-counters'

const windows = [
  { id: 'requests:user_1', limit: 100 },
  { id: 'tokens:user_1', limit: 1000 },
]
const running = [{ id: 'running:user_1', limit: 10 }]
const [requests, tokens] = windows
const at = { windows, running }

let redis: RedisServer
let one: SharedCounters
let other: SharedCounters

beforeAll(async () => {
  redis = await startRedis()
  const options = { url: redis.url, onError: () => undefined, onBack: () => undefined }
  one = new SharedCounters(options)
  other = new SharedCounters(options)
})
afterAll(async () => {
  await one[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

const usedBy = async (counters: SharedCounters) => (await counters.look(at)).map(({ used }) => used)

/** Polls until the condition holds, as long as a slow machine may take. */
async function until(isSo: () => Promise<boolean>) {
  const deadline = performance.now() + 30_000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('not so within 30 s')
    await Bun.sleep(20)
  }
}

test('a node that shuts down has released all its concurrency slots', async () => {
  const options = { url: redis.url, onError: () => undefined, onBack: () => undefined }
  const leaving = new SharedCounters(options)
  const places = [{ id: 'running:leaving', limit: 1000 }]
  const held = async () => (await other.look({ windows: [], running: places }))[0]?.used
  await until(async () => !leaving.isAway && !other.isAway)
  const taking = Array.from({ length: 300 }, () =>
    leaving.take({ windows: [], weight: 1, running: places }),
  )
  const taken = await Promise.all(taking)
  expect(await held()).toBe(300)
  for (const one of taken) if (one.kind === 'granted') one.end(0)
  await leaving[Symbol.asyncDispose]()
  expect(await held()).toBe(0)
})

test('usage is reported over all nodes without consuming it, and for one node without Redis', async () => {
  if (!requests || !tokens) throw new Error('no windows')
  const take = async (counters: SharedCounters, weight: number) => {
    const taken = await counters.take({ windows: [tokens], weight, running: [] })
    const request = await counters.take({ windows: [requests], weight: 1, running })
    if (taken.kind === 'refused' || request.kind === 'refused') throw new Error('refused')
    return request
  }
  // Until it is connected a node counts by itself.
  await until(async () => {
    const [told] = await other.look({ windows: [{ id: 'probe', limit: 1e9 }], running: [] })
    await one.take({ windows: [{ id: 'probe', limit: 1e9 }], weight: 1, running: [] })
    return (told?.used ?? 0) > 0
  })
  expect(await usedBy(one)).toEqual([0, 0, 0])
  const first = await take(one, 100)
  await take(other, 20)
  await take(other, 3)
  expect(await usedBy(one)).toEqual([3, 123, 3])
  expect(await usedBy(other)).toEqual([3, 123, 3])
  const [window, , place] = await one.look(at)
  expect(window?.resetMs).toBeWithin(1, 60_001)
  expect(place?.resetMs).toBe(0)
  first.end(0)
  await until(async () => (await usedBy(other))[2] === 2)
  await redis.kill()
  await until(async () => (await usedBy(one))[0] === 1)
  expect(await usedBy(one)).toEqual([1, 100, 0])
  await until(async () => (await usedBy(other))[0] === 2)
  expect(await usedBy(other)).toEqual([2, 23, 2])
})

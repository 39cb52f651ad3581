import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'
import { startRedis, type RedisServer } from '../../harness/redis-server'
import type { CounterTake, Demand } from '../../../server/src/limits/counters'
import type { SlicedCounters } from '../../../server/src/limits/slices/sliced-counters'
import { createNodeCounters, type NodeCounters } from './node-counters'

const windows = [
  { id: 'requests:user_1', limit: 100 },
  { id: 'tokens:user_1', limit: 1000 },
]
const running = [{ id: 'running:user_1', limit: 10 }]
const [requests, tokens] = windows
const at = { windows, running }

let redis: RedisServer
let nodes: NodeCounters[]
let one: SlicedCounters
let other: SlicedCounters

beforeAll(async () => {
  redis = await startRedis()
  const [first, second] = ['one', 'other'].map((name) => createNodeCounters(redis.url, name))
  if (!first || !second) throw new Error('no nodes')
  nodes = [first, second]
  one = first.counters
  other = second.counters
})
afterAll(async () => {
  for (const node of nodes) await node[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

const usedBy = async (counters: SlicedCounters) =>
  (await counters.readUse(at)).map(({ used }) => used)

/** Waits until the use is reported so: a slow node states its own later than a report waits for it. */
const eventuallyUsed = (counters: SlicedCounters, expected: readonly number[]) =>
  eventually(async () => Bun.deepEquals(await usedBy(counters), expected))

/** Takes again what is refused: a node waits 80 ms for its store. */
async function takeGranted(counters: SlicedCounters, demand: Demand): Promise<GrantedTake> {
  return eventuallyReads(
    () => counters.take(demand),
    (taken) => taken.kind === 'granted',
  )
}

type GrantedTake = Extract<CounterTake, { kind: 'granted' }>

test('a node that shuts down has released all its concurrency slots', async () => {
  const node = createNodeCounters(redis.url, 'leaving')
  const leaving = node.counters
  const places = [{ id: 'running:leaving', limit: 1000 }]
  const held = async () => (await other.readUse({ windows: [], running: places }))[0]?.used
  await eventually(async () => !leaving.store.isAway && !other.store.isAway)
  const taking = Array.from({ length: 300 }, () =>
    takeGranted(leaving, { windows: [], weight: 1, running: places }),
  )
  const taken = await Promise.all(taking)
  await eventually(async () => (await held()) === 300)
  for (const one of taken) one.end(0)
  await node[Symbol.asyncDispose]()
  expect(await held()).toBe(0)
})

test('usage is reported over all nodes without consuming it, and for one node without Redis', async () => {
  if (!requests || !tokens) throw new Error('no windows')
  const take = async (counters: SlicedCounters, weight: number) => {
    await takeGranted(counters, { windows: [tokens], weight, running: [] })
    return takeGranted(counters, { windows: [requests], weight: 1, running })
  }
  // Until it is connected a node counts by itself.
  await eventually(async () => {
    const [state] = await other.readUse({ windows: [{ id: 'probe', limit: 1e9 }], running: [] })
    await one.take({ windows: [{ id: 'probe', limit: 1e9 }], weight: 1, running: [] })
    return (state?.used ?? 0) > 0
  })
  expect(await usedBy(one)).toEqual([0, 0, 0])
  const first = await take(one, 100)
  await take(other, 20)
  await take(other, 3)
  await eventuallyUsed(one, [3, 123, 3])
  await eventuallyUsed(other, [3, 123, 3])
  const [window, , place] = await one.readUse(at)
  expect(window?.resetMs).toBeWithin(1, 60_001)
  expect(place?.resetMs).toBe(0)
  first.end(0)
  await eventually(async () => (await usedBy(other))[2] === 2)
  await redis.kill()
  await eventually(async () => (await usedBy(one))[0] === 1)
  expect(await usedBy(one)).toEqual([1, 100, 0])
  await eventually(async () => (await usedBy(other))[0] === 2)
  expect(await usedBy(other)).toEqual([2, 23, 2])
})

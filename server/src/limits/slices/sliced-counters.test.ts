import { describe, expect, test } from 'bun:test'
import { SlicedCounters } from './sliced-counters'
import { settleMs, type SliceStore, type StoredSlices, type StoreMoment } from './slice-store'
import type { CounterTake } from '../counters'
import { TestClock } from '../../../testing/clock'

const momentOf = (clock: TestClock): StoreMoment => ({
  nowMs: clock.monotonicMs(),
  epoch: 'epoch',
  sinceMs: 0,
  hasLostSlices: false,
})

/** A store that answers each statement after `delayMs`. */
function createSlowStore(clock: TestClock, delayMs: number, isLate = false): SliceStore {
  const documents = new Map<string, StoredSlices>()
  const moment = () => momentOf(clock)
  const delayed = async <Answer>(answer: () => Answer): Promise<Answer> => {
    await clock.sleep(delayMs)
    return answer()
  }
  return {
    kind: 'redis',
    isAway: false,
    read: (buckets) =>
      delayed(() => ({
        ...moment(),
        slices: buckets.map((bucket) => documents.get(bucket) ?? { version: 0, document: {} }),
      })),
    write: (writes) =>
      delayed(() =>
        writes.map(({ bucket, version, document }) => {
          if ((documents.get(bucket)?.version ?? 0) !== version) return false
          documents.set(bucket, { version: version + 1, document })
          return true
        }),
      ),
    beat: (node) =>
      isLate
        ? Promise.reject(new Error('late'))
        : delayed(() => ({ ...moment(), seenAtMs: new Map([[node, moment().nowMs]]) })),
    leave: async () => undefined,
    recall: async () => undefined,
  }
}

/** Ends counters whose last statements the clock lets pass. */
const ending = (clock: TestClock, ...all: SlicedCounters[]): AsyncDisposable => ({
  async [Symbol.asyncDispose]() {
    await clock.run(Promise.all(all.map((counters) => counters[Symbol.asyncDispose]())))
  },
})

test('a share assumed while the store was slow is not added to its grant', async () => {
  const limit = 20
  const clock = new TestClock()
  const store = createSlowStore(clock, 30, true)
  const counters = new SlicedCounters({ store, node: 'one', clock })
  await using _ending = ending(clock, counters)
  await counters.start()
  const demand = { windows: [{ id: 'requests:user_1', limit }], weight: 1, running: [] }
  let admitted = 0
  const take = async () => {
    const taken = await counters.take(demand)
    if (!('kind' in taken && taken.kind === 'refused')) admitted += 1
  }
  // The first request does not wait for the answer, which comes 10 ms later.
  await clock.run(take())
  expect([admitted, counters.assumedUnits]).toEqual([1, limit])
  await clock.advance(100)
  for (let time = 0; time < 3 * limit; time++) await clock.run(take())
  expect(admitted).toBe(limit)
})

test('the first request of a limit waits for a store that is slow, so that the node takes no share of its own', async () => {
  const limit = 20
  const clock = new TestClock()
  const store = createSlowStore(clock, 40)
  const one = new SlicedCounters({ store, node: 'one', clock })
  const two = new SlicedCounters({ store, node: 'two', clock })
  await using _ending = ending(clock, one, two)
  await clock.run(Promise.all([one.start(), two.start()]))
  const demand = { windows: [{ id: 'requests:user_1', limit }], weight: 1, running: [] }
  const taking = Promise.all(
    Array.from({ length: 4 * limit }, async (_, at) => (at % 2 === 0 ? one : two).take(demand)),
  )
  const takes = await clock.run(taking)
  const admitted = takes.filter((taken) => !('kind' in taken && taken.kind === 'refused')).length
  expect(admitted).toBeWithin(1, limit + 1)
  expect([one.assumedUnits, two.assumedUnits]).toEqual([0, 0])
})

test('units that a node admits without the store are counted, once for all requests that share them', async () => {
  const limit = 20
  const clock = new TestClock()
  const store = createSlowStore(clock, 1)
  store.read = () => Promise.reject(new Error('the store is gone'))
  const counters = new SlicedCounters({ store, node: 'one', clock })
  await using _ending = ending(clock, counters)
  const demand = { windows: [{ id: 'requests:user_1', limit }], weight: 1, running: [] }
  const taking = Promise.all(Array.from({ length: 2 * limit }, () => counters.take(demand)))
  const takes = await clock.run(taking)
  const admitted = takes.filter((taken) => !('kind' in taken && taken.kind === 'refused')).length
  expect(admitted).toBe(limit)
  expect(counters.assumedUnits).toBe(limit)
})

/** A store that has just lost its slices, and grants nothing until nodes have stated theirs. */
function createLostStore(clock: TestClock, delayMs: number, isLate = false): SliceStore {
  const startedMs = clock.monotonicMs()
  const store = createSlowStore(clock, delayMs, isLate)
  const { read, beat } = store
  const lost = () => ({ ...momentOf(clock), sinceMs: startedMs, hasLostSlices: true })
  store.read = async (buckets) => ({ ...(await read(buckets)), ...lost() })
  store.beat = async (node, epoch) => ({ ...(await beat(node, epoch)), ...lost() })
  return store
}

describe('while a store that lost its slices grants nothing', () => {
  const demand = { windows: [{ id: 'requests:user_1', limit: 20 }], weight: 1, running: [] }

  test('the first request of a limit waits instead of being rejected', async () => {
    const clock = new TestClock()
    const startedMs = clock.monotonicMs()
    const counters = new SlicedCounters({ store: createLostStore(clock, 1), node: 'one', clock })
    await using _ending = ending(clock, counters)
    const taken = await clock.run(Promise.resolve(counters.take(demand)))
    expect(taken.kind).toBe('granted')
    expect(clock.monotonicMs() - startedMs).toBeWithin(settleMs, settleMs + 200)
  })

  test('a request waits as well after another was admitted by a share, as the store was late', async () => {
    const clock = new TestClock()
    const store = createLostStore(clock, 40, true)
    const counters = new SlicedCounters({ store, node: 'one', clock })
    await using _ending = ending(clock, counters)
    await clock.run(counters.start())
    const take = () => clock.run(Promise.resolve(counters.take(demand)))
    expect((await take()).kind).toBe('granted')
    expect(counters.assumedUnits).toBe(20)
    await clock.advance(200)
    expect((await take()).kind).toBe('granted')
  })
})

const kindsOf = (takes: readonly CounterTake[]) => new Set(takes.map(({ kind }) => kind))

describe('a store that is late, while a node has used its slice and the limit has room', () => {
  const demand = { windows: [{ id: 'requests:user_1', limit: 20 }], weight: 1, running: [] }

  /** Makes the reads of a store fail that `isLate` names, by their number. */
  async function takeTwenty(clock: TestClock, isLate: (read: number) => boolean) {
    const store = createSlowStore(clock, 1)
    const { read } = store
    let reads = 0
    store.read = (buckets) => {
      reads += 1
      return isLate(reads) ? Promise.reject(new Error('late')) : read(buckets)
    }
    const counters = new SlicedCounters({ store, node: 'one', clock })
    await using _ending = ending(clock, counters)
    await clock.run(counters.start())
    const takes: CounterTake[] = []
    for (let count = 0; count < 20; count++)
      takes.push(await clock.run(Promise.resolve(counters.take(demand))))
    return { takes, assumed: counters.assumedUnits }
  }

  test('once: no request is rejected', async () => {
    const { takes, assumed } = await takeTwenty(new TestClock(), (read) => read % 2 === 0)
    expect(kindsOf(takes)).toEqual(new Set(['granted']))
    expect(assumed).toBe(0)
  })

  test('for long: a request is rejected after a second, and the next ones at once, each for a second', async () => {
    const clock = new TestClock()
    const startedMs = clock.monotonicMs()
    const { takes } = await takeTwenty(clock, (read) => read > 1)
    const refused = takes.filter((taken) => taken.kind === 'refused')
    expect(refused).toHaveLength(10)
    expect(refused.map(({ waitMs }) => waitMs)).toEqual(refused.map(() => 1000))
    expect(clock.monotonicMs() - startedMs).toBeWithin(900, 3000)
  })
})

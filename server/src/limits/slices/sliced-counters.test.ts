import { expect, test } from 'bun:test'
import { SlicedCounters } from './sliced-counters'
import { settleMs, type SliceStore, type StoredSlices, type StoreMoment } from './slice-store'

const moment = (): StoreMoment => ({
  nowMs: Math.floor(performance.now()),
  epoch: 'epoch',
  sinceMs: 0,
  hasLostSlices: false,
})

/** A store that answers each statement after `delayMs`, and notes how much later this process let it. */
function createSlowStore(delayMs: number, isLate = false, delay = { maxExtraMs: 0 }): SliceStore {
  const documents = new Map<string, StoredSlices>()
  const delayed = async <Answer>(answer: () => Answer): Promise<Answer> => {
    const startedAt = performance.now()
    await Bun.sleep(delayMs)
    delay.maxExtraMs = Math.max(delay.maxExtraMs, performance.now() - startedAt - delayMs)
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

test('a share that was assumed while the store was slow is not added to what it grants', async () => {
  const limit = 20
  await using counters = new SlicedCounters({ store: createSlowStore(30, true), node: 'one' })
  await counters.start()
  const demand = { windows: [{ id: 'requests:user_1', limit }], weight: 1, running: [] }
  let admitted = 0
  const take = async () => {
    const taken = await counters.take(demand)
    if (!('kind' in taken && taken.kind === 'refused')) admitted += 1
  }
  // The first request does not wait for the answer, which comes 10 ms later.
  await take()
  await Bun.sleep(100)
  for (let time = 0; time < 3 * limit; time++) await take()
  expect(admitted).toBe(limit)
})

test('the first request of a limit waits for a store that is slow, so that the node takes no share of its own', async () => {
  const limit = 20
  for (let tries = 1; ; tries++) {
    const delay = { maxExtraMs: 0 }
    const { admitted, assumed } = await takeOnTwoNodes(createSlowStore(40, false, delay), limit)
    expect(admitted).toBeGreaterThan(0)
    // Where the process stood still, the store was later than a request waits.
    if (delay.maxExtraMs > 200 && assumed.some(Boolean) && tries < 20) continue
    expect(admitted).toBeLessThanOrEqual(limit)
    expect(assumed).toEqual([0, 0])
    break
  }
})

/** Takes four times the limit at once on two new nodes. */
async function takeOnTwoNodes(store: SliceStore, limit: number) {
  await using one = new SlicedCounters({ store, node: 'one' })
  await using two = new SlicedCounters({ store, node: 'two' })
  await Promise.all([one.start(), two.start()])
  const demand = { windows: [{ id: 'requests:user_1', limit }], weight: 1, running: [] }
  const takes = await Promise.all(
    Array.from({ length: 4 * limit }, async (_, at) => (at % 2 === 0 ? one : two).take(demand)),
  )
  const admitted = takes.filter((taken) => !('kind' in taken && taken.kind === 'refused')).length
  return { admitted, assumed: [one.assumedUnits, two.assumedUnits] }
}

test('units that a node admits without the store are counted, once for all requests that share them', async () => {
  const limit = 20
  const store = createSlowStore(1)
  store.read = () => Promise.reject(new Error('the store is gone'))
  await using counters = new SlicedCounters({ store, node: 'one' })
  const demand = { windows: [{ id: 'requests:user_1', limit }], weight: 1, running: [] }
  const takes = await Promise.all(Array.from({ length: 2 * limit }, () => counters.take(demand)))
  const admitted = takes.filter((taken) => !('kind' in taken && taken.kind === 'refused')).length
  expect(admitted).toBe(limit)
  expect(counters.assumedUnits).toBe(limit)
})

test('while a store that lost its slices grants nothing, the first request of a limit waits instead of being rejected', async () => {
  const store = createSlowStore(1)
  const { read } = store
  // The clock of the node and of the store moves by the reads alone.
  let clockMs = 0
  const lost = () => ({ ...moment(), nowMs: clockMs, hasLostSlices: true })
  store.read = async (buckets) => {
    clockMs += 400
    return { ...(await read(buckets)), ...lost() }
  }
  store.beat = async (node) => ({ ...lost(), seenAtMs: new Map([[node, clockMs]]) })
  await using counters = new SlicedCounters({ store, node: 'one', now: () => clockMs })
  const demand = { windows: [{ id: 'requests:user_1', limit: 20 }], weight: 1, running: [] }
  const taken = await counters.take(demand)
  expect('kind' in taken && taken.kind).toBe('granted')
  expect(clockMs).toBeGreaterThanOrEqual(settleMs)
})

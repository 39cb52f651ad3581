import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'
import { startRedis, type RedisServer } from '../../harness/redis-server'
import { RedisSliceStore } from '../../../server/src/limits/slices/redis-slice-store'
import type { NodeSlice } from '../../../server/src/limits/slices/slice-document'
import type { Recall } from '../../../server/src/limits/slices/slice-store'

let redis: RedisServer
let store: RedisSliceStore
const recalls: Recall[] = []

const slice = (units: number): NodeSlice => ({
  units,
  expiring: [[1_700_000_000_000, 2]],
  running: 0,
  statedAtMs: 1_700_000_000_000,
  pushesUntilMs: 0,
  hasLeft: false,
})

/** Repeats a command that fails on a busy machine, as any command may within 50 ms. */
async function patiently<Answer>(command: () => Promise<Answer>): Promise<Answer> {
  const read = await eventuallyReads(
    () =>
      command().then(
        (answer) => ({ answer }),
        (error: unknown) => ({ error }),
      ),
    (outcome) => 'answer' in outcome,
  )
  return read.answer
}

beforeAll(async () => {
  redis = await startRedis()
  store = new RedisSliceStore({
    url: redis.url,
    onRecall: (recall) => recalls.push(recall),
    onError: () => undefined,
    onBack: () => undefined,
  })
  await eventually(() => !store.isAway)
})
afterAll(async () => {
  store[Symbol.dispose]()
  await redis[Symbol.asyncDispose]()
})

test('a document is written only where no other node wrote it since it was read', async () => {
  const write = (bucket: string, version: number, units: number) => ({
    bucket,
    version,
    document: { node: slice(units) },
  })
  // A write that was late may have been done, so that all of it is repeated, with other documents.
  const results = await patiently(async () => {
    const [a, b] = [crypto.randomUUID(), crypto.randomUUID()]
    const before = await store.read([a, b])
    const first = await store.write([write(a, 0, 5), write(b, 3, 5)])
    const second = await store.write([write(a, 0, 9), write(b, 0, 7)])
    const after = await store.read([b, a])
    const third = await store.write([write(a, 1, 6)])
    return { empty: before.slices[0], first, second, slices: after.slices, third }
  })
  expect(results).toEqual({
    empty: { version: 0, document: {} },
    first: [true, false],
    second: [false, true],
    slices: [
      { version: 1, document: { node: slice(7) } },
      { version: 1, document: { node: slice(5) } },
    ],
    third: [true],
  })
})

test('nodes report, are known to each other, and leave', async () => {
  const first = await patiently(() => store.beat('one', undefined))
  expect([...first.seenAtMs]).toEqual([['one', first.nowMs]])
  const { seenAtMs, epoch } = await patiently(() => store.beat('two', first.epoch))
  expect([...seenAtMs.keys()].toSorted()).toEqual(['one', 'two'])
  expect(epoch).toBe(first.epoch)
  await patiently(() => store.leave('one'))
  expect([...(await patiently(() => store.beat('two', epoch))).seenAtMs.keys()]).toEqual(['two'])
})

test('recalls reach the nodes, and again after the connection broke', async () => {
  const recall = { bucket: 'requests:user_1', units: 3, from: 'one' }
  await eventually(async () => {
    await store.recall([recall]).catch(() => undefined)
    return recalls.length > 0
  })
  expect(recalls[0]).toEqual(recall)
  await redis.kill()
  await redis.restart()
  recalls.length = 0
  await eventually(async () => {
    await store.recall([recall]).catch(() => undefined)
    return recalls.length > 0
  })
})

test('an emptied Redis has another epoch, and reports that there were nodes before', async () => {
  const before = await patiently(() => store.beat('one', undefined))
  await redis.kill()
  await redis.restart()
  await eventually(() => !store.isAway)
  const after = await patiently(() => store.read(['a']))
  expect(after.epoch).not.toBe(before.epoch)
  expect(after).toMatchObject({ hasLostSlices: false, slices: [{ version: 0 }] })
  const beat = await patiently(() => store.beat('one', before.epoch))
  expect(beat).toMatchObject({ epoch: after.epoch, hasLostSlices: true })
  expect((await patiently(() => store.read([]))).hasLostSlices).toBe(true)
})

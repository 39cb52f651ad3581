import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { PostgresSliceStore, recallChannel } from './postgres-slice-store'
import type { NodeSlice } from './slice-document'
import type { Recall } from './slice-store'
import { toRecall } from './stored-slices'
import { Database } from '../../platform/db/database'
import { Listener } from '../../platform/db/listener'
import { dropDatabase, newDatabase } from '../../../testing/databases'
import { eventually, eventuallyReads } from '../../../testing/eventually'

const slice = (units: number): NodeSlice => ({
  units,
  expiring: [[1_700_000_000_000, 2]],
  running: 0,
  statedAtMs: 1_700_000_000_000,
  pushesUntilMs: 0,
  hasLeft: false,
})

const toWrite = (bucket: string, version: number, units = 1) => ({
  bucket,
  version,
  document: { node: slice(units) },
})

let url: string
let database: Database
let store: PostgresSliceStore
let other: PostgresSliceStore

/** Repeats a command that fails on a busy machine, as any command may within its timeout. */
async function patiently<Answer>(command: () => Promise<Answer>): Promise<Answer> {
  const { value } = await eventuallyReads(
    () =>
      command().then(
        (answer) => ({ value: answer }),
        (error: unknown) => ({ error }),
      ),
    (outcome): outcome is { value: Awaited<Answer> } => 'value' in outcome,
  )
  return value
}

/** Adds one to each document, and returns for how many no other write came in between. */
async function addToEach(one: PostgresSliceStore, buckets: readonly string[]): Promise<number> {
  const { slices } = await one.read(buckets)
  const written = await one.write(
    buckets.map((bucket, at) => {
      const { version = 0, document = {} } = slices[at] ?? {}
      const units = (document['node']?.units ?? 0) + 1
      return toWrite(bucket, version, units)
    }),
  )
  return written.filter(Boolean).length
}

const createStore = () =>
  new PostgresSliceStore({ database, onError: () => undefined, onBack: () => undefined })

/** Leaves the tables as a crash of PostgreSQL does. */
const empty = () => sql`truncate limit_slices, limit_node, limit_epoch`.execute(database.query)

beforeAll(async () => {
  url = await newDatabase()
  database = new Database({ connectionString: url }, { poolSize: 2, onError: () => undefined })
  store = createStore()
  other = createStore()
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await dropDatabase(url)
})

describe('documents', () => {
  test('one is written only where no other node wrote it since it was read', async () => {
    // A write that took too long may have been executed: all of it is repeated, with other documents.
    const outcome = await patiently(async () => {
      const [a, b] = [crypto.randomUUID(), crypto.randomUUID()]
      const write = (...writes: ReturnType<typeof toWrite>[]) => store.write(writes)
      const [first] = (await store.read([a, b])).slices
      const written = [
        await write(toWrite(a, 0, 5), toWrite(b, 3, 5)),
        await write(toWrite(a, 0, 9), toWrite(b, 0, 7)),
      ]
      const { slices } = await other.read([b, a])
      const versionOfA = slices[1]?.version ?? 0
      written.push(await write(toWrite(a, versionOfA, 6)), await write(toWrite(a, versionOfA, 4)))
      return { first, written, documents: slices.map(({ document }) => document) }
    })
    expect(outcome).toEqual({
      first: { version: 0, document: {} },
      written: [[true, false], [false, true], [true], [false]],
      documents: [{ node: slice(7) }, { node: slice(5) }],
    })
  })

  test('one of several concurrent writes succeeds for each document, and none deadlocks', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `shared-${at}`)
    let successes = 0
    let failures = 0
    const run = async (one: PostgresSliceStore, buckets: readonly string[]) => {
      for (let round = 0; round < 25; round++) {
        // A statement that took too long may have been executed: it may not be repeated here.
        try {
          const written = await addToEach(one, buckets)
          successes += written
        } catch {
          failures += 1
        }
      }
    }
    await Promise.all([run(store, names), run(other, names.toReversed())])
    const { slices } = await patiently(() => store.read(names))
    const sum = slices.reduce((all, { document }) => all + (document['node']?.units ?? 0), 0)
    expect(sum).toBeWithin(successes, successes + failures * names.length + 1)
    expect(successes).toBeGreaterThan(0)
  })

  test('are deleted within a minute if no node states them', async () => {
    await patiently(() => store.write([toWrite('old', 0), toWrite('current', 0)]))
    await sql`update limit_slices set written_ms = written_ms - 301000 where bucket = 'old'`.execute(
      database.query,
    )
    await sql`update limit_epoch set purged_ms = 0`.execute(database.query)
    await patiently(() => store.beat('one', undefined))
    const { slices } = await patiently(() => store.read(['old', 'current']))
    expect(slices.map(({ version }) => version > 0)).toEqual([false, true])
  })
})

test('nodes report, are known to each other, and leave', async () => {
  await empty()
  const first = await patiently(() => store.beat('one', undefined))
  expect([...first.seenAtMs]).toEqual([['one', first.nowMs]])
  const second = await patiently(() => other.beat('two', first.epoch))
  expect([...second.seenAtMs.keys()].toSorted()).toEqual(['one', 'two'])
  expect(second).toMatchObject({ epoch: first.epoch, hasLostSlices: false })
  await patiently(() => store.leave('one'))
  const { seenAtMs } = await patiently(() => other.beat('two', first.epoch))
  expect([...seenAtMs.keys()]).toEqual(['two'])
})

test('recalls reach the nodes that listen', async () => {
  const recalls: (Recall | undefined)[] = []
  const listener = new Listener({
    connect: () => database.client(),
    subscriptions: { [recallChannel]: (payload) => recalls.push(toRecall(payload)) },
    onGap: () => undefined,
    onError: () => undefined,
  })
  await listener.start()
  const sent = [3, 4].map((units) => ({ bucket: `requests:user_${units}`, units, from: 'one' }))
  await patiently(() => store.recall(sent))
  await eventually(() => recalls.length >= 2)
  await listener[Symbol.asyncDispose]()
  expect(recalls.slice(0, 2)).toEqual(sent)
})

describe('after a crash of PostgreSQL, which empties the tables', () => {
  test('there is another epoch, which knows that there were nodes before', async () => {
    const before = await patiently(() => store.beat('one', undefined))
    await empty()
    const after = await patiently(() => store.read(['a']))
    expect(after.epoch).not.toBe(before.epoch)
    expect(after).toMatchObject({ hasLostSlices: false, slices: [{ version: 0 }] })
    const beat = await patiently(() => store.beat('one', before.epoch))
    expect(beat).toMatchObject({ epoch: after.epoch, hasLostSlices: true })
    expect((await patiently(() => other.read([]))).hasLostSlices).toBe(true)
  })

  test('a heartbeat that comes first begins the epoch', async () => {
    await empty()
    const beat = await patiently(() => store.beat('one', 'the epoch before'))
    expect(beat.hasLostSlices).toBe(true)
    expect((await patiently(() => other.read([]))).epoch).toBe(beat.epoch)
  })
})

test('the clock never runs backwards when the server’s clock is set back', async () => {
  await empty()
  const before = await patiently(() => store.beat('one', undefined))
  // As if the clock had been an hour ahead until now.
  await sql`update limit_epoch set last_ms = last_ms + 3600000`.execute(database.query)
  const ahead = before.nowMs + 3_600_000
  const first = await patiently(() => other.read([]))
  expect(first.nowMs).toBeGreaterThanOrEqual(ahead)
  const second = await patiently(() => store.beat('one', before.epoch))
  expect(second.nowMs).toBeGreaterThanOrEqual(first.nowMs)
  // It runs on from there.
  const third = await eventuallyReads(
    () => patiently(() => other.read([])),
    ({ nowMs }) => nowMs > second.nowMs,
  )
  expect(third.nowMs).toBeLessThan(ahead + 3_600_000)
})

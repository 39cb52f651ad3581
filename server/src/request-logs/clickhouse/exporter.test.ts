import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { closeQueue, measureQueue } from './queue'
import { insertBodies, insertLogs } from '../insert-logs'
import { toLogRecord, type LogValues } from '../log-record'
import {
  createExportFixture,
  isReal,
  type ExportFixture,
} from '../../../testing/clickhouse-stand-in/fixture'
import { valuesForTests } from '../../../testing/request-logs/values'
import { generateIdBody, getIdTime, newId } from '../../platform/db/id'
import { eventuallyReads } from '../../../testing/eventually'

const stack = new AsyncDisposableStack()
let fixture: ExportFixture
beforeAll(async () => {
  fixture = await createExportFixture(stack)
  // Creates the queue and the tables.
  await fixture.exportAll()
})
afterAll(() => stack.disposeAsync())

const dayMs = 86_400_000
const newUser = () => newId('user')
const idAgo = (days: number) =>
  `req_${generateIdBody(new Date(Date.now() - days * dayMs).getTime())}`

async function insert(fields: Partial<LogValues>): Promise<LogValues> {
  const log = valuesForTests({ id: newId('req'), ...fields })
  await insertLogs(fixture.database.query, [toLogRecord(log)])
  return log
}

const epoch = new Date(0)
const find = ({ userId, id }: LogValues) => fixture.stored.find({ userId, from: epoch }, id)
const count = (userId: string) => fixture.stored.count({ userId })
const waiting = async () => (await measureQueue(fixture.database.query)).waiting

test('a log arrives with all of its values', async () => {
  const userId = newUser()
  const log = await insert({
    userId,
    streamed: true,
    status: 'error',
    statusCode: 502,
    error: { type: 'gateway_error', code: 'provider_error', message: 'It\tsaid "no"\n\\ – ü 💥' },
    metadata: { task: "it's", nested: { list: [1, null] } },
    cost: 9_007_199_254_740_993n,
    cachedTokens: 7,
    cacheSavings: -12n,
    firstTokenMs: 12,
    callerUser: "{a:String}', 1); --",
  })
  await fixture.exportAll()
  const [inPostgres] = await fixture.database.query
    .selectFrom('request_log')
    .selectAll()
    .where('user_id', '=', userId)
    .execute()
  expect(await find(log)).toEqual(inPostgres)
  expect(await waiting()).toBe(0)
})

test('bodies arrive', async () => {
  const log = await insert({ userId: newUser() })
  const startedAt = new Date(getIdTime(log.id))
  const bodies = { request: '{"a":"ü\\n"}', response: null }
  const body = { id: log.id, userId: log.userId, startedAt, ...bodies }
  await insertBodies(fixture.database.query, [body])
  await fixture.exportAll()
  expect(await fixture.stored.findBodies(log.userId, log.id)).toEqual({
    request_body: bodies.request,
    response_body: null,
  })
})

test('the connections and the time of its attempts come along', async () => {
  const log = await insert({ userId: newUser(), latencyMs: 100, connectionId: 'conn_b' })
  for (const [at, connection] of ['conn_a', 'conn_b'].entries()) {
    await insertAttempt(log, connection, 30 + at)
  }
  await fixture.exportAll()
  const query = { userId: log.userId }
  expect(await fixture.stored.count({ ...query, connectionIds: ['conn_a'] })).toBe(1n)
  expect(await fixture.stored.count({ ...query, connectionIds: ['conn_c', "'"] })).toBe(0n)
  const { overheads } = await fixture.stored.samples(query, { timed: 10, weighed: 10 })
  expect(overheads).toEqual([{ ms: 39, count: 1 }])
})

test('rows sent before a crash are stored once, although they are sent again', async () => {
  const userId = newUser()
  const log = await insert({ userId })
  await fixture.exportAll()
  await requeue(log)
  await fixture.exportAll(fixture.newExporter())
  expect(await count(userId)).toBe(1n)
})

test.skipIf(isReal)('a batch that was stored, and whose answer was lost, is once', async () => {
  const userId = newUser()
  for (let at = 0; at < 3; at++) await insert({ userId })
  const exporter = fixture.newExporter()
  await fixture.exportAll(exporter)
  for (let at = 0; at < 3; at++) await insert({ userId })
  fixture.standIn?.faults.push({ type: 'lost' })
  await expect(fixture.exportAll(exporter)).rejects.toThrow('did not answer')
  expect(await waiting()).toBe(3)
  await fixture.exportAll(exporter)
  expect(await waiting()).toBe(0)
  expect(await count(userId)).toBe(6n)
  expect(exporter.counts).toMatchObject({ exported: 6, failures: 1 })
})

test('the real log of a request that was presumed dead replaces its orphan', async () => {
  const orphan = await insert({ userId: newUser(), status: 'error', ipAddress: '' })
  await fixture.exportAll()
  await sql`delete from request_log where id = ${orphan.id}`.execute(fixture.database.query)
  await insert({ ...orphan, status: 'success', ipAddress: '127.0.0.1' })
  await fixture.exportAll()
  expect(await find(orphan)).toMatchObject({ status: 'success', ip_address: '127.0.0.1' })
  expect(await count(orphan.userId)).toBe(1n)
})

test('a log that was deleted while it waited blocks nothing', async () => {
  const gone = await insert({ userId: newUser() })
  const next = await insert({ userId: newUser() })
  await sql`delete from request_log where id = ${gone.id}`.execute(fixture.database.query)
  await fixture.exportAll()
  expect(await find(next)).toBeDefined()
  expect(await count(gone.userId)).toBe(0n)
  expect(await waiting()).toBe(0)
})

test('a fresh log waits some seconds for the attempts that other transactions book', async () => {
  const { query } = fixture.database
  const exportFresh = async () => {
    const { rows: began } = await sql<{ at: Date }>`select now() as at`.execute(query)
    const log = await insert({ userId: newUser() })
    await fixture.newExporter().run()
    const found = await find(log)
    const { rows } = await sql<{ isFresh: boolean }>`
      select clock_timestamp() < ${began[0]?.at}::timestamptz + interval '4.5 s' as "isFresh"`.execute(
      query,
    )
    return { log, found, isFresh: rows[0]?.isFresh ?? false }
  }
  // On a machine that stood still for those seconds it is fresh no more.
  const { log, found } = await eventuallyReads(exportFresh, ({ isFresh }) => isFresh)
  expect(found).toBeUndefined()
  await fixture.exportAll()
  expect(await find(log)).toBeDefined()
})

test('logs from before the export began follow, the newest first, without duplicates', async () => {
  const userId = newUser()
  await closeQueue(fixture.database.query)
  for (const days of [0, 1, 12, 20]) await insert({ userId, id: idAgo(days) })
  expect(await waiting()).toBe(0)
  await fixture.exportAll()
  await insert({ userId })
  await fixture.exportAll()
  expect(await count(userId)).toBe(5n)
})

test.skipIf(isReal)(
  'a table that its server has lost is filled again with the remaining logs',
  async () => {
    const log = await insert({ userId: newUser() })
    await fixture.exportAll()
    fixture.standIn?.tables.delete('request_log')
    const exporter = fixture.newExporter()
    await fixture.exportAll(exporter)
    expect(await find(log)).toBeDefined()
  },
)

test.skipIf(isReal)('rows that ClickHouse rejects hold up no others', async () => {
  const userId = newUser()
  const table = fixture.standIn?.tables.get('request_log')
  const logs = [await insert({ userId }), await insert({ userId, userAgent: 'bad' })]
  for (let at = 0; at < 5; at++) logs.push(await insert({ userId }))
  if (table) table.refuses = (row) => row['user_agent'] === 'bad'
  await fixture.exportAll()
  expect(fixture.rejected).toEqual([logs[1]?.id ?? ''])
  expect(await count(userId)).toBe(6n)
  expect(await waiting()).toBe(0)
})

test.skipIf(isReal)('rows wait where ClickHouse rejects all of them', async () => {
  const userId = newUser()
  const table = fixture.standIn?.tables.get('request_log')
  for (let at = 0; at < 3; at++) await insert({ userId, userAgent: 'bad' })
  if (table) table.refuses = () => true
  await expect(fixture.exportAll()).rejects.toThrow('469')
  expect(await waiting()).toBe(3)
  if (table) table.refuses = () => false
  await fixture.exportAll()
  expect(await count(userId)).toBe(3n)
})

test.skipIf(isReal)('an outage loses no log, and pauses the export for a while', async () => {
  const log = await insert({ userId: newUser() })
  const exporter = fixture.newExporter()
  await fixture.exportAll(exporter)
  const another = await insert({ userId: log.userId })
  fixture.standIn?.faults.push({ type: 'bad gateway' })
  await expect(fixture.exportAll(exporter)).rejects.toThrow('502')
  const sent = fixture.standIn?.requests.length
  // Not before the delay is over.
  await exporter.run()
  expect(fixture.standIn?.requests.length).toBe(sent)
  await fixture.exportAll(exporter)
  expect(await find(another)).toBeDefined()
})

test.skipIf(isReal)('rows travel compressed, a statement for each day', async () => {
  const userId = newUser()
  for (const days of [0, 0, 1])
    await insert({ userId, id: idAgo(days), userAgent: 'x'.repeat(290) })
  const before = fixture.standIn?.requests.length ?? 0
  await fixture.exportAll()
  const inserts = (fixture.standIn?.requests ?? [])
    .slice(before)
    .filter(({ text }) => text.startsWith('INSERT'))
  expect(inserts.length).toBe(2)
  expect(inserts.some(({ isCompressed }) => isCompressed)).toBe(true)
})

const requeue = ({ id }: LogValues) =>
  sql`insert into log_export_queue (kind, id, started_at)
    select 'log', id, started_at from request_log where id = ${id}`.execute(fixture.database.query)

const insertAttempt = ({ id, userId }: LogValues, connectionId: string, durationMs: number) =>
  sql`
    insert into usage_event (id, request_id, user_id, key_id, connection_id, started_at, duration_ms,
      billing_mode, operation, model, provider, streamed, outcome, state, input_tokens,
      cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, audio_input_tokens,
      audio_output_tokens, estimated, cost, from_lease, from_balance, written_off)
    values (${newId('att')}, ${id}, ${userId}, 'key', ${connectionId}, now(), ${durationMs},
      'platform', 'chat', 'm', 'p', false, 'ok', 'settled', 0, 0, 0, 0, 0, 0, 0, false, 0, 0, 0, 0)
  `.execute(fixture.database.query)

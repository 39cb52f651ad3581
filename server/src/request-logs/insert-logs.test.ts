import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { dropOrphanLogs } from './drop-orphan-logs'
import { insertLogs, insertSound } from './insert-logs'
import { toLogRecord, type LogValues } from './log-record'
import { purgeOldLogs } from './retention'
import { valuesForTests } from '../../testing/request-logs/values'
import { LogWriter } from './writer'
import type { Database } from '../platform/db/database'
import { openTestDatabases } from '../../testing/db/database'
import { generateIdBody, getIdTime } from '../platform/db/id'
import { dailyTables, makePartitions, partitionDays } from '../platform/db/partitions'
import { isRefused } from '../platform/db/violation'
import { dayWaitMs, untilDayLasts } from '../../testing/calendar'

const dayMs = 86_400_000
const stack = new AsyncDisposableStack()
let database: Database
/** The same with one connection. */
let again: (statementMs?: number) => Database

beforeAll(async () => {
  ;({ database, again } = await openTestDatabases(stack))
})
afterAll(() => stack.disposeAsync())

const idAt = (time: string) => `req_${generateIdBody(Date.parse(time))}`
const recordOf = (fields: Partial<LogValues>) => toLogRecord(valuesForTests(fields))

let accounts = 0
const newUser = () => `user_${++accounts}`

const logsOf = (userId: string) =>
  database.query.selectFrom('request_log').selectAll().where('user_id', '=', userId).execute()
const sumsOf = (userId: string, grain: 'quarter_hour' | 'hour' | 'day') =>
  database.query
    .selectFrom('request_sum')
    .selectAll()
    .where('user_id', '=', userId)
    .where('grain', '=', grain)
    .orderBy('starts_at')
    .orderBy('model')
    .execute()

test('all columns come through, and the time is that of the id', async () => {
  const userId = newUser()
  const log = valuesForTests({
    userId,
    id: idAt('2026-02-03T04:05:06.789Z'),
    error: { type: 'api_error', code: 'x', message: 'It failed.' },
    metadata: { task: 'a test' },
    status: 'error',
  })
  await insertLogs(database.query, [toLogRecord(log)])
  const [row] = await logsOf(userId)
  expect(row?.started_at.toISOString()).toBe('2026-02-03T04:05:06.789Z')
  expect(row).toMatchObject({
    id: log.id,
    method: 'POST',
    error: log.error,
    metadata: log.metadata,
    cost: 1000n,
    input_tokens: 10n,
    user_agent: log.userAgent,
  })
})

test('stores and sums a log once that arrives twice, in one batch or two', async () => {
  const userId = newUser()
  const at = (time: string, fields: Partial<LogValues> = {}) =>
    recordOf({ userId, id: idAt(`2026-02-03T${time}`), ...fields })
  const failed = {
    status: 'error',
    cost: 0n,
    latencyMs: 9999,
    model: 'fake/no',
    accountId: null,
  } as const
  const records = [
    at('04:05:06.789Z', { accountId: userId, concurrent: 3 }),
    at('04:05:59.999Z', { accountId: 'org_1' }),
    at('05:00:00.000Z', { latencyMs: 300 }),
    at('05:00:01.000Z', failed),
    at('05:00:01.000Z', { ...failed, status: 'cancelled' }),
  ]
  await insertLogs(database.query, records.slice(0, 3))
  await insertLogs(database.query, [...records, ...records])
  await insertLogs(database.query, records)
  expect(await logsOf(userId)).toHaveLength(5)
  const [first, second, third] = await sumsOf(userId, 'hour')
  expect(first).toMatchObject({
    requests: 2n,
    successes: 2n,
    input_tokens: 20n,
    output_tokens: 10n,
    latency_ms: 200n,
    cost: 2000n,
    own_cost: 1000n,
    peak_concurrent: 3,
  })
  expect(second).toMatchObject({ model: 'fake/no', requests: 2n, failures: 1n, cancellations: 1n })
  expect(third).toMatchObject({ model: 'fake/ok', requests: 1n, latency_ms: 300n })
  const days = await sumsOf(userId, 'day')
  expect(days.map(({ model, requests }) => [model, requests])).toEqual([
    ['fake/no', 2n],
    ['fake/ok', 3n],
  ])
  const peak = await database.query
    .selectFrom('request_peak')
    .selectAll()
    .where('user_id', '=', userId)
    .execute()
  expect(peak).toMatchObject([
    { requests_per_minute: 3n, tokens_per_minute: 45n, concurrent_requests: 3 },
  ])
})

test('counts the images and seconds of a minute, each request rounded up, without those of chats', async () => {
  const userId = newUser()
  const at = (time: string, fields: Partial<LogValues>) =>
    recordOf({ userId, id: idAt(`2026-02-03T${time}`), ...fields })
  await insertLogs(database.query, [
    at('04:05:06.000Z', { endpoint: '/v1/images/generations', images: 3 }),
    at('04:05:07.000Z', { endpoint: '/v1/images/edits', images: 2 }),
    at('04:05:08.000Z', { endpoint: '/v1/audio/transcriptions', soundMs: 2001 }),
    at('04:05:09.000Z', { endpoint: '/v1/audio/speech', speechMs: 1 }),
    at('04:05:10.000Z', { endpoint: '/v1/chat/completions', images: 9, speechMs: 90_000 }),
    at('04:06:00.000Z', { endpoint: '/v1/images/variations', images: 4 }),
  ])
  const of = (table: 'request_minute' | 'request_peak') =>
    database.query.selectFrom(table).selectAll().where('user_id', '=', userId).execute()
  const minutes = await of('request_minute')
  expect(minutes.toSorted((one, other) => Number(one.requests - other.requests))).toMatchObject([
    { requests: 1n, images: 4n, audio_seconds: 0n },
    { requests: 5n, images: 5n, audio_seconds: 4n },
  ])
  expect(await of('request_peak')).toMatchObject([
    { images_per_minute: 5n, audio_seconds_per_minute: 4n },
  ])
})

test('a rejected log does not stop the others', async () => {
  const userId = newUser()
  const records = [
    recordOf({ userId }),
    recordOf({ userId }).replace('"a test"', String.raw`"zero \u0000"`),
    recordOf({ userId }),
  ]
  const thrown = await insertLogs(database.query, records).catch((error: unknown) => error)
  expect(isRefused(thrown)).toBe(true)
  const rejections: unknown[] = []
  await insertSound(database.query, records, (error) => rejections.push(error))
  expect(rejections).toHaveLength(1)
  expect(await logsOf(userId)).toHaveLength(2)
})

test('replaces an orphan’s log by the real one, in the sums too', async () => {
  const userId = newUser()
  const [dead, alive] = [idAt('2026-02-03T04:05:06.789Z'), idAt('2026-02-03T04:05:07.000Z')]
  const orphan = { userId, status: 'error', cost: 0n, ipAddress: '' } as const
  const records = [dead, alive].map((id) => recordOf({ ...orphan, id }))
  await insertLogs(database.query, records)
  const real = [recordOf({ userId, id: alive })]
  for (let twice = 0; twice < 2; twice++) {
    await dropOrphanLogs(database.query, real)
    await insertLogs(database.query, real)
  }
  const logs = await logsOf(userId)
  expect(logs.map(({ status }) => status).toSorted()).toEqual(['error', 'success'])
  for (const grain of ['quarter_hour', 'hour', 'day'] as const) {
    expect(await sumsOf(userId, grain)).toMatchObject([
      { requests: 2n, successes: 1n, failures: 1n, cost: 1000n },
    ])
  }
  const minutes = database.query.selectFrom('request_minute').selectAll()
  expect(await minutes.where('user_id', '=', userId).execute()).toMatchObject([{ requests: 2n }])
})

test('writes waiting logs on flush, and on disposal', async () => {
  const userId = newUser()
  const lost: unknown[] = []
  {
    await using writer = new LogWriter({
      onWritten: () => undefined,
      db: database.query,
      onError: (error) => lost.push(error),
      onLost: (counts) => lost.push(counts),
    })
    writer.addLog(recordOf({ userId }))
    const id = idAt('2026-02-03T04:05:06.789Z')
    const body = {
      id,
      startedAt: new Date(getIdTime(id)),
      userId,
      request: 'asked',
      response: null,
    }
    writer.addBodies(body)
    await writer.flush()
    expect(await logsOf(userId)).toHaveLength(1)
    const bodies = database.query.selectFrom('request_body').selectAll()
    expect(await bodies.where('user_id', '=', userId).execute()).toMatchObject([
      { id, request_body: 'asked', response_body: null },
    ])
    writer.addLog(recordOf({ userId }))
  }
  expect(await logsOf(userId)).toHaveLength(2)
  expect(lost).toEqual([])
})

test('counts logs that did not fit, and reports them once the database is back', async () => {
  const userId = newUser()
  const losses: unknown[] = []
  const errors: unknown[] = []
  // What occupies its connection is the test alone: a statement may take as long as elsewhere.
  const one = again(20_000)
  const held = Promise.withResolvers<void>()
  const holding = one.query.connection().execute(() => held.promise)
  await using writer = new LogWriter({
    onWritten: () => undefined,
    db: one.query,
    onError: (error) => errors.push(error),
    onLost: (counts) => losses.push(counts),
  })
  const record = recordOf({ userId })
  for (let count = 0; count < 10_003; count++) writer.addLog(record)
  expect(losses).toEqual([])
  held.resolve()
  await holding
  while (losses.length === 0) await writer.flush()
  expect(losses).toEqual([{ logs: 3, bodies: 0 }])
  expect(await logsOf(userId)).toHaveLength(1)
})

const ago = (days: number) => new Date(Date.now() - days * dayMs)

test(
  'days that are over go by partition, minutes after 31 days, hours after 25 months',
  async () => {
    await untilDayLasts()
    const { query } = database
    const failures: unknown[] = []
    for (const table of dailyTables) {
      await makePartitions(query, table, (name, error) => failures.push(name, error))
    }
    expect(failures).toEqual([])
    expect((await partitionDays(query, 'request_body')).size).toBe(4)
    const userId = newUser()
    const logs = [0, 29, 31, 33, 800].map((days) =>
      recordOf({ userId, id: idAt(ago(days).toISOString()) }),
    )
    await insertLogs(query, logs)
    const old = ago(100).toISOString().slice(0, 10)
    const name = `request_log_${old.replaceAll('-', '')}`
    await sql`
    create table ${sql.table(name)} partition of request_log
    for values from (${sql.lit(`${old} 00:00+00`)}) to (${sql.lit(`${old} 12:00+00`)})`.execute(
      query,
    )
    const { partitions } = await purgeOldLogs(query, 30)
    expect(partitions).toEqual([name])
    expect(await logsOf(userId)).toHaveLength(2)
    const minutes = await query
      .selectFrom('request_minute')
      .selectAll()
      .where('user_id', '=', userId)
      .execute()
    expect(minutes).toHaveLength(3)
    expect(await sumsOf(userId, 'hour')).toHaveLength(4)
    expect(await sumsOf(userId, 'day')).toHaveLength(5)
  },
  60_000 + dayWaitMs,
)

test('cache figures are stored; a record without them, and one of an older version, has none', async () => {
  const userId = newUser()
  const cache = { cachedTokens: 7, cacheWriteTokens: 3, cacheSavings: -5n }
  await insertLogs(database.query, [recordOf({ userId, ...cache }), recordOf({ userId })])
  const logs = await logsOf(userId)
  const caches = logs.map((log) => [log.cached_tokens, log.cache_write_tokens, log.cache_savings])
  expect(caches).toHaveLength(2)
  expect(caches).toContainEqual([7n, 3n, -5n])
  expect(caches).toContainEqual([null, null, null])
})

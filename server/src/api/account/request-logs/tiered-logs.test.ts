import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createLogReader } from './log-reader'
import type { RequestLogFilter } from './schema'
import { createRequestLogStore } from './store'
import { createTieredLogs } from './tiered-logs'
import {
  createExportFixture,
  isReal,
  type ExportFixture,
} from '../../../../testing/clickhouse-stand-in/fixture'
import { insertAttempt, newLogs } from '../../../../testing/request-logs/many-logs'
import { valuesForTests } from '../../../../testing/request-logs/values'
import { dayWaitMs, untilDayLasts } from '../../../../testing/calendar'
import { ApiError } from '../../../errors'
import { toPage } from '../../../http/paging'
import { insertBodies, insertLogs } from '../../../request-logs/insert-logs'
import { toLogRecord, type LogValues } from '../../../request-logs/log-record'
import { readRecentSince } from '../../../request-logs/clickhouse/recent-days'
import { toLogSearch } from '../../../request-logs/log-search'
import { getIdTime, newId } from '../../../platform/db/id'

const dayMs = 86_400_000
const stack = new AsyncDisposableStack()
let fixture: ExportFixture
let logs: LogValues[]
const userId = newId('user')
const stranger = newId('user')

type Store = ReturnType<typeof createRequestLogStore>
/** Reads PostgreSQL alone. */
let postgres: Store
/** Reads both. */
let tiered: Store
/** What PostgreSQL answered while it had all logs, by the name of the read. */
const expected = new Map<string, unknown>()

const waitForLogs = () => Promise.resolve()

async function fill(): Promise<void> {
  const { query } = fixture.database
  logs = newLogs({ userId, count: 400, days: 10 })
  const foreign = newLogs({ userId: stranger, count: 40, days: 10 })
  for (const log of [...logs, ...foreign]) await insertLogs(query, [toLogRecord(log)])
  for (const [at, log] of logs.entries()) {
    if (log.provider === null) continue
    if (at % 3 === 0) await insertAttempt(query, log, { connectionId: 'conn_0', durationMs: 5 })
    await insertAttempt(query, log, { connectionId: log.connectionId, durationMs: at % 40 })
    const startedAt = new Date(getIdTime(log.id))
    const bodies = { request: `{"at":${at}}`, response: null }
    if (at % 5 === 0) await insertBodies(query, [{ id: log.id, userId, startedAt, ...bodies }])
  }
  await insertGateway()
}

/** A gateway of the account with two of the connections. */
async function insertGateway(): Promise<void> {
  const { query } = fixture.database
  await sql`insert into users (id, email, display_name) values (${userId}, 'a@example.com', 'A')`.execute(
    query,
  )
  await sql`
    insert into gateway (id, user_id, name, token_hash)
    values ('gw_1', ${userId}, 'one', '\\x00')`.execute(query)
  for (const id of ['conn_0', 'conn_2']) {
    await sql`
      insert into connection (id, user_id, scope, name, provider, gateway_id, gateway_type)
      values (${id}, ${userId}, 'individual', ${id}, 'fake', 'gw_1', 3)`.execute(query)
  }
}

const filters = (): Record<string, RequestLogFilter> => ({
  all: {},
  model: { model: 'fake/a' },
  'model with a quote': { model: "it's\\a" },
  provider: { provider: 'two' },
  errors: { status: 'error' },
  key: { api_key_id: 'key_1' },
  tag: { tag: 'batch' },
  tags: { tag: 'team:1, batch' },
  'unknown tag': { tag: 'Batch' },
  gateway: { gateway_id: 'gw_1' },
  'unknown gateway': { gateway_id: 'gw_2' },
  latency: { min_latency: 20, max_latency: 60 },
  'recent days': { start_date: ago(2) },
  'older days': { start_date: ago(8), end_date: ago(5) },
  'both kinds of days': { start_date: ago(6), end_date: ago(1) },
  nothing: { model: 'none' },
  'a recent id': { search: toLogSearch(logs.at(-1)?.id ?? '') },
  'an older id': { search: toLogSearch(logs[9]?.id ?? '') },
  'a part of an older id': { search: toLogSearch((logs[9]?.id ?? '').slice(0, 11)) },
  'a text of errors': { search: { errorText: 'CODE_1' }, start_date: ago(9) },
  'another text of errors': { search: { errorText: '100% _' }, start_date: ago(9) },
})

let startMs: number
const ago = (days: number) => new Date(startMs - days * dayMs)

/** Reads whatever a client can read, by the name of the read. */
async function readAll(store: Store): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>()
  for (const [name, filter] of Object.entries(filters())) {
    const period = { ...filter, end_date: filter.end_date ?? ago(0) }
    answers.set(`sums of ${name}`, await store.stats(userId, period))
    answers.set(`list of ${name}`, await pagesOf(store, filter))
  }
  for (const offset of [1, 119, 130, 399, 400]) {
    const page = toPage({ limit: 7, offset, cursor: undefined }, 'x')
    answers.set(`offset ${offset}`, await store.list(userId, page, {}))
  }
  for (const { id } of logs) answers.set(id, await store.details(userId, id))
  return answers
}

async function pagesOf(store: Store, filter: RequestLogFilter): Promise<unknown[]> {
  const pages: unknown[] = []
  for (let cursor: string | undefined; ;) {
    const page = toPage({ limit: 60, offset: 0, cursor }, 'x')
    const answer = await store.list(userId, page, filter)
    pages.push(answer)
    cursor = answer.pagination.next_cursor ?? undefined
    if (cursor === undefined) return pages
  }
}

beforeAll(async () => {
  await untilDayLasts()
  startMs = Date.now()
  fixture = await createExportFixture(stack)
  const db = fixture.database.query
  const recent = createLogReader(db)
  postgres = createRequestLogStore({ db, reader: recent, waitForLogs })
  const reader = createTieredLogs({
    db,
    recent,
    older: fixture.stored,
    recentSince: () => readRecentSince(db),
    retentionDays: () => 30,
  })
  tiered = createRequestLogStore({ db, reader, waitForLogs })
  await fill()
  for (const [name, answer] of await readAll(postgres)) expected.set(name, answer)
  const exporter = fixture.newExporter()
  await fixture.exportAll(exporter)
  // Some are sent twice.
  await sql`insert into log_export_queue (kind, id, started_at)
    select 'log', id, started_at from request_log limit 100`.execute(db)
  await fixture.exportAll(exporter)
  // The first run hands days over, the second one drops them.
  await exporter.upkeep()
  await exporter.upkeep()
}, 120_000 + dayWaitMs)
afterAll(() => stack.disposeAsync())

test('days are divided between the stores', async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from request_log where user_id = ${userId}`.execute(
    fixture.database.query,
  )
  expect(rows[0]?.count).toBeGreaterThan(50)
  expect(rows[0]?.count).toBeLessThan(250)
})

test('lists, sums and details are the same as if PostgreSQL had all logs', async () => {
  const answers = await readAll(tiered)
  expect([...answers.keys()]).toEqual([...expected.keys()])
  for (const [name, answer] of answers)
    expect({ name, answer }).toEqual({ name, answer: expected.get(name) })
}, 120_000)

test('a log of another account is not found, in either store', async () => {
  for (const { id } of logs.filter((_log, at) => at % 50 === 0)) {
    await expect(tiered.get(stranger, id)).rejects.toThrow('does not exist')
  }
})

test('a log that has just been written is found at once', async () => {
  const log = valuesForTests({ id: newId('req'), userId: newId('user') })
  await insertLogs(fixture.database.query, [toLogRecord(log)])
  const page = toPage({ limit: 10, offset: 0, cursor: undefined }, 'x')
  expect((await tiered.list(log.userId, page, {})).logs.map(({ id }) => id)).toEqual([log.id])
  expect((await tiered.stats(log.userId, {})).total_requests).toBe(1)
})

test('the log of a node that was down for days is found while it waits to be exported, and listed afterwards', async () => {
  const id = newId('req', ago(6).getTime())
  const late = valuesForTests({ id, userId: newId('user') })
  await insertLogs(fixture.database.query, [toLogRecord(late)])
  expect((await tiered.get(late.userId, id)).id).toBe(id)
  const exporter = fixture.newExporter()
  // It is not dropped before it is exported.
  await exporter.upkeep()
  await fixture.exportAll(exporter)
  const page = toPage({ limit: 10, offset: 0, cursor: undefined }, 'x')
  expect((await tiered.list(late.userId, page, {})).logs.map((log) => log.id)).toEqual([id])
})

test('logs beyond their retention are not shown, whether or not ClickHouse has deleted them', async () => {
  const { database, stored } = fixture
  const reader = createTieredLogs({
    db: database.query,
    recent: createLogReader(database.query),
    older: stored,
    recentSince: () => readRecentSince(database.query),
    retentionDays: () => 5,
  })
  const page = toPage({ limit: 1, offset: 0, cursor: undefined }, 'x')
  const oldest = Math.floor(Date.now() / dayMs - 5) * dayMs
  const kept = logs.filter(({ id }) => getIdTime(id) >= oldest)
  expect((await reader.list(userId, {}, page)).total).toBe(BigInt(kept.length))
  const gone = logs.find(({ id }) => getIdTime(id) < oldest)
  expect(await reader.find(userId, gone?.id ?? '')).toBeUndefined()
})

test.skipIf(isReal)(
  'while ClickHouse is down, recent days are read, and others are unavailable',
  async () => {
    const { standIn } = fixture
    const page = toPage({ limit: 10, offset: 0, cursor: undefined }, 'x')
    for (let at = 0; at < 2; at++) standIn?.faults.push({ type: 'bad gateway' })
    const thrown = await tiered.list(userId, page, {}).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ApiError)
    expect(thrown).toMatchObject({ code: 'gateway_unavailable', status: 503 })
    const since = (await readRecentSince(fixture.database.query))?.toISOString().slice(0, 10)
    expect(String(thrown)).toContain(`start_date=${since}`)
    const start = new Date(since ?? '')
    expect((await tiered.list(userId, page, { start_date: start })).logs).toHaveLength(10)
    const newest = logs.toSorted((one, other) => (one.id < other.id ? 1 : -1))[0]
    expect((await tiered.get(userId, newest?.id ?? '')).id).toBe(newest?.id ?? '')
    standIn?.faults.splice(0)
  },
)

test.skipIf(isReal)('the account is in the condition of each read', () => {
  const reads = fixture.standIn?.requests.filter(({ text }) => / FROM request_/.test(text)) ?? []
  expect(reads.length).toBeGreaterThan(100)
  for (const { text, parameters } of reads) {
    expect(text).toMatch(/WHERE user_id = \{(userId|user):String\}/)
    expect(parameters['userId'] ?? parameters['user']).toMatch(/^user_/)
  }
})

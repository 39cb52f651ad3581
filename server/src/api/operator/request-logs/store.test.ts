import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { OperatedLogFilter } from './schema'
import { createOperatedRequestLogStore } from './store'
import {
  createExportFixture,
  type ExportFixture,
} from '../../../../testing/clickhouse-stand-in/fixture'
import { newLogs } from '../../../../testing/request-logs/many-logs'
import { createLogReader } from '../../account/request-logs/log-reader'
import { createTieredLogs } from '../../account/request-logs/tiered-logs'
import { toPage } from '../../../http/paging'
import { newId } from '../../../platform/db/id'
import { readRecentSince } from '../../../request-logs/clickhouse/recent-days'
import { insertLogs } from '../../../request-logs/insert-logs'
import { toLogRecord, type LogValues } from '../../../request-logs/log-record'
import { toLogSearch } from '../../../request-logs/log-search'

const dayMs = 86_400_000
const stack = new AsyncDisposableStack()
let fixture: ExportFixture
let logs: LogValues[]
let store: ReturnType<typeof createOperatedRequestLogStore>
const [one, other] = [newId('user'), newId('user')]

beforeAll(async () => {
  fixture = await createExportFixture(stack)
  const db = fixture.database.query
  logs = [one, other].flatMap((userId) => newLogs({ userId, count: 60, days: 10 }))
  for (const log of logs) await insertLogs(db, [toLogRecord(log)])
  const exporter = fixture.newExporter()
  await fixture.exportAll(exporter)
  await exporter.upkeep()
  await exporter.upkeep()
  const reader = createTieredLogs({
    db,
    recent: createLogReader(db),
    older: fixture.stored,
    recentSince: () => readRecentSince(db),
    retentionDays: () => 30,
  })
  store = createOperatedRequestLogStore({ db, reader, waitForLogs: () => Promise.resolve() })
}, 120_000)
afterAll(() => stack.disposeAsync())

const list = async (filter: OperatedLogFilter) => {
  const page = toPage({ limit: 100, offset: 0, cursor: undefined }, 'x')
  return (await store.list(filter, page)).logs
}
const newestFirst = (found: readonly LogValues[]) =>
  found.map(({ id }) => id).toSorted((first, second) => (first < second ? 1 : -1))
const since = (days: number) => new Date(Date.now() - days * dayMs)

test('requests of all accounts are listed, in either store, of one day where no start is named', async () => {
  const found = await list({ start_date: since(7) })
  expect(new Set(found.map(({ user_id: userId }) => userId))).toEqual(new Set([one, other]))
  expect(found.length).toBeGreaterThan(70)
  expect((await list({})).length).toBeLessThan(20)
  expect((await list({ user_id: one })).map(({ id }) => id)).toEqual(
    newestFirst(logs.filter(({ userId }) => userId === one)),
  )
})

test('a request of any account and day is found by its id, and by a part of it', async () => {
  for (const log of [logs[3], logs[58], logs[63]]) {
    const id = log?.id ?? ''
    expect((await list({ search: toLogSearch(id) })).map((found) => found.id)).toEqual([id])
    const parts = await list({ search: toLogSearch(id.slice(0, 14)) })
    expect(parts.map((found) => found.id)).toContain(id)
    expect(await store.details(id)).toMatchObject({ id, user_id: log?.userId, email: null })
  }
  await expect(store.details(newId('req'))).rejects.toThrow('does not exist')
})

test('failed requests are found by a text of their error', async () => {
  const found = await list({ search: { errorText: 'Code_1' }, start_date: since(7) })
  expect(found.length).toBeGreaterThan(3)
  expect(new Set(found.map(({ error }) => error?.code))).toEqual(new Set(['code_1']))
})

test('each read of the column store is of one account or of a period', () => {
  const reads = fixture.standIn?.requests.filter(({ text }) => / FROM request_/.test(text)) ?? []
  for (const { text } of reads)
    expect(text).toMatch(/WHERE (user_id = |started_at >= .* AND started_at < )/)
})

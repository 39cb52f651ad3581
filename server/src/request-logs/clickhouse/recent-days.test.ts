import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { readRecentSince } from './recent-days'
import { insertLogs } from '../insert-logs'
import { toLogRecord } from '../log-record'
import {
  createExportFixture,
  isReal,
  type ExportFixture,
} from '../../../testing/clickhouse-stand-in/fixture'
import { valuesForTests } from '../../../testing/request-logs/values'
import { dayWaitMs, untilDayLasts } from '../../../testing/calendar'
import { newId } from '../../platform/db/id'
import { getToday, partitionDays } from '../../platform/db/partitions'

const dayMs = 86_400_000
const stack = new AsyncDisposableStack()
let fixture: ExportFixture
let today: Date
beforeAll(async () => {
  await untilDayLasts()
  fixture = await createExportFixture(stack)
  today = await getToday(fixture.database.query)
  for (const days of [6, 5, 4, 1]) await makePartition(days)
  await insertLog(6)
}, 30_000 + dayWaitMs)
afterAll(() => stack.disposeAsync())

const dayAgo = (days: number) => new Date(today.getTime() - days * dayMs)
const since = () => readRecentSince(fixture.database.query)
const partitions = async () =>
  [...(await partitionDays(fixture.database.query, 'request_log')).values()].map((day) =>
    Math.round((today.getTime() - day.getTime()) / dayMs),
  )

async function makePartition(days: number): Promise<void> {
  const [from, to] = [dayAgo(days).toISOString(), dayAgo(days - 1).toISOString()]
  const name = `request_log_${from.slice(0, 10).replaceAll('-', '')}`
  await sql`create table ${sql.table(name)} partition of request_log
    for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(fixture.database.query)
}

async function insertLog(days: number): Promise<string> {
  const id = newId('req', dayAgo(days).getTime() + dayMs / 2)
  await insertLogs(fixture.database.query, [toLogRecord(valuesForTests({ id }))])
  return id
}

test('all days stay until their logs are exported', async () => {
  const exporter = fixture.newExporter()
  // Exports the one of six days ago, without upkeep.
  await exporter.run()
  expect(await since()).toBeUndefined()
  await insertLog(5)
  await exporter.upkeep()
  // The log of five days ago waits.
  expect(await since()).toEqual(dayAgo(5))
  await fixture.exportAll(exporter)
  expect(await partitions()).toEqual(expect.arrayContaining([5, 4, 1]))
})

test('a day is handed over one run before it is dropped, and the recent ones stay', async () => {
  const exporter = fixture.newExporter()
  await fixture.exportAll(exporter)
  await exporter.upkeep()
  expect(await since()).toEqual(dayAgo(3))
  await exporter.upkeep()
  expect(await partitions()).not.toContain(4)
  expect(await partitions()).toContain(1)
  expect(await since()).toEqual(dayAgo(3))
})

test('a late log of a dropped day is not deleted before it is exported', async () => {
  const exporter = fixture.newExporter()
  const id = await insertLog(5)
  await exporter.upkeep()
  const find = async () =>
    (await sql`select 1 from request_log where id = ${id}`.execute(fixture.database.query)).rows
      .length
  expect(await find()).toBe(1)
  await fixture.exportAll(exporter)
  await exporter.upkeep()
  expect(await find()).toBe(0)
  expect(await since()).toEqual(dayAgo(3))
})

test('a changed retention is applied in ClickHouse', async () => {
  await fixture.newExporter({ retentionDays: 90 }).upkeep()
  const definition = async () => {
    const text =
      'SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {table:String}'
    const [row] = await fixture.clickHouse.select(
      { text, parameters: { table: 'request_log' } },
      z.object({ engine_full: z.string() }),
    )
    return row?.engine_full
  }
  expect(await definition()).toContain('toIntervalDay(91)')
  if (!isReal) {
    const before = fixture.standIn?.requests.length ?? 0
    await fixture.newExporter({ retentionDays: 90 }).upkeep()
    const sent = (fixture.standIn?.requests ?? []).slice(before)
    expect(sent.some(({ text }) => text.startsWith('ALTER'))).toBe(false)
  }
})

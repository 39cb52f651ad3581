import { z } from 'zod'
import { addColumn, changeExpiry, createTable, toExpiryText, type ExportedTable } from './tables'
import type { ClickHouse } from '../../platform/clickhouse/client'

const Definition = z.object({ engine_full: z.string() })
const Column = z.object({ name: z.string() })

/** Reads a table's engine with its options; undefined where there is no such table. */
export async function readDefinition(
  clickHouse: ClickHouse,
  { name }: ExportedTable,
): Promise<string | undefined> {
  const text =
    'SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {table:String}'
  const [row] = await clickHouse.select({ text, parameters: { table: name } }, Definition)
  return row?.engine_full
}

/**
 * Creates a table, or the columns that it lacks; a table that the operator created is used as it is. Resolves with
 * whether the table is new.
 */
export async function ensureTable(
  clickHouse: ClickHouse,
  table: ExportedTable,
  days: number,
): Promise<boolean> {
  if ((await readDefinition(clickHouse, table)) === undefined) {
    await clickHouse.execute(createTable(table, days))
    return true
  }
  const text =
    'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}'
  const foundColumns = await clickHouse.select({ text, parameters: { table: table.name } }, Column)
  const knownColumns = new Set(foundColumns.map(({ name }) => name))
  for (const column of Object.keys(table.columns)) {
    if (!knownColumns.has(column)) await clickHouse.execute(addColumn(table, column))
  }
  return false
}

/** Has a table delete its rows after this number of days, where it does not do so yet. */
export async function ensureExpiry(
  clickHouse: ClickHouse,
  table: ExportedTable,
  days: number,
): Promise<void> {
  const definition = (await readDefinition(clickHouse, table)) ?? ''
  if (definition.includes(toExpiryText(days))) return
  await clickHouse.execute(changeExpiry(table, days))
}

import type { ExportedRow } from './exported-rows'
import type { ExportedTable } from './tables'
import type { ClickHouse } from '../../platform/clickhouse/client'
import { isRowRejected } from '../../platform/clickhouse/failure'

interface InsertedRow {
  id: string
  day: string
  line: string
}

const isPresent = (row: ExportedRow): row is InsertedRow =>
  row.id !== null && row.day !== null && row.line !== null

/**
 * Inserts rows, one statement for each day: an insertion into one partition is atomic. Resolves with the ids of rows
 * that ClickHouse rejects by themselves, while it accepts others; rejects where it accepts none of them.
 */
export async function insertRows(
  clickHouse: ClickHouse,
  table: ExportedTable,
  rows: readonly ExportedRow[],
): Promise<string[]> {
  const present = rows.filter(isPresent)
  const days = Map.groupBy(present, ({ day }) => day)
  const rejected: Rejected[] = []
  for (const day of days.values()) rejected.push(...(await insertDay(clickHouse, table, day)))
  const [first] = rejected
  // A table that takes no row at all is not as it should be, which is no fault of the rows.
  if (first && rejected.length === present.length) throw first.error
  return rejected.map(({ id }) => id)
}

interface Rejected {
  id: string
  error: unknown
}

/** Inserts rows of one day; halves them where one is rejected, until the rejected ones are found. */
async function insertDay(
  clickHouse: ClickHouse,
  table: ExportedTable,
  rows: readonly InsertedRow[],
): Promise<Rejected[]> {
  try {
    await clickHouse.insert(
      table.name,
      rows.map(({ line }) => line),
    )
    return []
  } catch (error) {
    if (!isRowRejected(error)) throw error
    const [only] = rows
    if (only && rows.length === 1) return [{ id: only.id, error }]
    const middle = Math.ceil(rows.length / 2)
    return [
      ...(await insertDay(clickHouse, table, rows.slice(0, middle))),
      ...(await insertDay(clickHouse, table, rows.slice(middle))),
    ]
  }
}

import { sql, type Kysely, type Transaction } from 'kysely'
import { insertLogs } from './insert-logs'
import { logColumns } from './log-record'
import { addCounted } from './request-sums'
import { sumLogs, type CountedLogs, type LogRecordValues } from './sum-logs'
import { copyRows } from '../platform/db/copy-rows'
import { elementsOf } from '../platform/db/elements'
import type { Schema } from '../platform/db/schema'

const at = (column: (typeof logColumns)[number][0]) =>
  logColumns.findIndex(([name]) => name === column)
const [errorAt, metadataAt] = [at('error'), at('metadata')]

/** A log as a line of CSV, and its values. */
interface CopiedLog {
  line: string
  values: LogRecordValues
}

const statement = `
  copy request_log (${logColumns.map(([name]) => name).join(', ')})
  from stdin (format csv, quote '"', escape '\\', null 'null')`

/**
 * Inserts new logs, given as records, and adds them to the sums, as `insertLogs` does, at half of its cost to the database.
 * Rejects with a unique violation if one of them is there already.
 */
export async function copyLogs(
  trx: Transaction<Schema>,
  records: readonly string[],
): Promise<void> {
  const copied: CopiedLog[] = []
  const others: string[] = []
  for (const record of records) {
    const log = toCopiedLog(record)
    if (log) copied.push(log)
    else others.push(record)
  }
  await insertLogs(trx, others)
  if (copied.length === 0) return
  await copyRows(trx, statement, copied.map(({ line }) => line).join('\n'))
  await addSums(trx, sumLogs(copied.map(({ values }) => values)))
}

/**
 * Returns the log of a record that has no objects and no escapes: an array of JSON is a line of CSV then, but for its time.
 * Nearly all are such.
 */
export function toCopiedLog(record: string): CopiedLog | undefined {
  if (record.includes('\\')) return undefined
  const values: unknown = JSON.parse(record)
  if (!Array.isArray(values) || values.length > logColumns.length) return undefined
  if ((values[errorAt] ?? null) !== null || (values[metadataAt] ?? null) !== null) return undefined
  const [id, startedAtMs]: unknown[] = values
  if (typeof id !== 'string' || typeof startedAtMs !== 'number') return undefined
  // Before it are the bracket, the quoted id and a comma.
  const start = id.length + 4
  const end = record.indexOf(',', start)
  const time = new Date(startedAtMs).toISOString()
  const missingColumns = ',null'.repeat(logColumns.length - values.length)
  return { line: `"${id}",${time}${record.slice(end, -1)}${missingColumns}`, values }
}

async function addSums(db: Kysely<Schema>, sums: readonly CountedLogs[]): Promise<void> {
  const rows = elementsOf(sums.map(toRow))
  await sql`
    with counted as (
      select timestamptz 'epoch' + (one ->> 0)::bigint * interval '1 millisecond' as starts_at,
        one ->> 1 as user_id, one ->> 2 as key_id, one ->> 3 as model,
        (one ->> 4)::bigint as requests, (one ->> 5)::bigint as successes, (one ->> 6)::bigint as failures,
        (one ->> 7)::bigint as cancellations, (one ->> 8)::bigint as input_tokens,
        (one ->> 9)::bigint as output_tokens, (one ->> 10)::bigint as latency_ms,
        (one ->> 11)::bigint as cost, (one ->> 12)::bigint as own_cost,
        (one ->> 13)::integer as peak_concurrent, (one ->> 14)::text[] as tags
      from ${rows} as one
    ), ${addCounted({ hasTags: sums.some(({ tags }) => tags !== null) })}`.execute(db)
}

const toRow = (sum: CountedLogs): string =>
  JSON.stringify([
    sum.minuteMs,
    sum.userId,
    sum.keyId,
    sum.model,
    sum.requests,
    sum.successes,
    sum.failures,
    sum.cancellations,
    sum.inputTokens,
    sum.outputTokens,
    sum.latencyMs,
    String(sum.cost),
    String(sum.ownCost),
    sum.peakConcurrent,
    sum.tags,
  ])

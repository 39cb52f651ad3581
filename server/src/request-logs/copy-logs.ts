import { sql, type Kysely, type Transaction } from 'kysely'
import { insertLogs } from './insert-logs'
import { logColumns } from './log-record'
import type { SummedLog } from './logged-request'
import { addCounted } from './request-sums'
import { readSummed, sumLogs, type CountedLogs } from './sum-logs'
import { copyRows } from '../platform/db/copy-rows'
import { elementsOf } from '../platform/db/elements'
import type { Schema } from '../platform/db/schema'

const at = (column: (typeof logColumns)[number][0]) =>
  logColumns.findIndex(([name]) => name === column)
const [errorAt, metadataAt] = [at('error'), at('metadata')]

/** A log to be written: its record, and the part that is summed where that is known. */
export interface NewLog {
  text: string
  summed?: SummedLog | undefined
}

const statement = `
  copy request_log (${logColumns.map(([name]) => name).join(', ')})
  from stdin (format csv, quote '"', escape '\\', null 'null')`

/**
 * Inserts new logs, and adds them to the sums, as `insertLogs` does, at half of its cost to the database. Rejects with a
 * unique violation if one of them is there already.
 */
export async function copyLogs(trx: Transaction<Schema>, logs: readonly NewLog[]): Promise<void> {
  const lines: string[] = []
  const sums: SummedLog[] = []
  const others: string[] = []
  for (const { text, summed = readSummedLog(text) } of logs) {
    if (summed) {
      lines.push(toLine(text, summed))
      sums.push(summed)
    } else others.push(text)
  }
  await insertLogs(trx, others)
  if (lines.length === 0) return
  await copyRows(trx, statement, lines.join('\n'))
  await addSums(trx, sumLogs(sums))
}

/** Reads the part of a record that is summed; undefined for one that cannot be copied: nearly all can. */
export function readSummedLog(record: string): SummedLog | undefined {
  if (record.includes('\\')) return undefined
  const values: unknown = JSON.parse(record)
  if (!Array.isArray(values) || values.length > logColumns.length) return undefined
  if ((values[errorAt] ?? null) !== null || (values[metadataAt] ?? null) !== null) return undefined
  return readSummed(values)
}

const nullsAfter = Array.from({ length: logColumns.length + 1 }, (_, columns) =>
  ',null'.repeat(logColumns.length - columns),
)

/** Returns a record that has no objects and no escapes as a line of CSV, which it is but for its time. */
function toLine(record: string, { id, startedAtMs, columns }: SummedLog): string {
  // Before it are the bracket, the quoted id and a comma.
  const end = record.indexOf(',', id.length + 4)
  const time = new Date(startedAtMs).toISOString()
  return `"${id}",${time}${record.slice(end, -1)}${nullsAfter[columns] ?? ''}`
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
        (one ->> 13)::integer as peak_concurrent, (one ->> 14)::text[] as tags,
        (one ->> 15)::bigint as images, (one ->> 16)::bigint as audio_seconds,
        (one ->> 17)::bigint as revenue, (one ->> 18)::bigint as provider_cost,
        (one ->> 19)::bigint as uncosted
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
    sum.images,
    sum.audioSeconds,
    String(sum.revenue),
    String(sum.providerCost),
    sum.uncosted,
  ])

import { sql, type Kysely } from 'kysely'
import type { LogAttempt, LogDetails } from './schema'
import type { LogRow } from './log-answer'
import { toChargedPrice } from '../../../catalog/charged-price'
import type { Schema } from '../../../platform/db/schema'

interface Passed {
  model: string
  provider: string
  connection_id: string | null
  reason: string
}

interface AttemptRow {
  model: string
  provider: string
  connection_id: string | null
  outcome: string
  reason: string | null
  duration_ms: number
  passed_over: Passed[] | null
  pricing: unknown
  searches: bigint | null
  input_characters: bigint | null
  output_characters: bigint | null
  processing_ms: bigint | null
}

/** The parts of a log that its attempts fill. */
type Attempted = Pick<LogDetails, 'resolution_attempts' | 'pricing' | 'measured'>

/** Lists the attempts of a request in order, each behind the candidates that were skipped before it. */
export async function toAttempts(
  db: Kysely<Schema>,
  { id, user_id, started_at, latency_ms }: LogRow,
): Promise<Attempted> {
  // Attempts begin within their request, so that partitions of other days are skipped.
  const { rows } = await sql<AttemptRow>`
    select model, provider, connection_id, outcome, reason, duration_ms, passed_over, pricing,
      searches, input_characters, output_characters, processing_ms
    from usage_event
    where request_id = ${id} and user_id = ${user_id}
      and started_at between ${started_at}::timestamptz - interval '1 minute'
        and ${started_at}::timestamptz + interval '1 day'
    order by started_at, id`.execute(db)
  const winner = rows.find(({ outcome }) => outcome === 'ok')
  const successful = winner && {
    connection_id: winner.connection_id,
    provider: winner.provider,
    model: winner.model,
  }
  const last = rows.at(-1)
  return {
    pricing: toChargedPrice(last?.pricing),
    measured: last ? toMeasured(last) : null,
    resolution_attempts: {
      summary: {
        total_candidates_tried: rows.length,
        successful_candidate: successful ?? null,
        total_duration_ms: latency_ms,
      },
      attempts: rows.flatMap((row) => [...(row.passed_over ?? []).map(toPassed), toAttempt(row)]),
    },
  }
}

const toMeasured = (row: AttemptRow): LogDetails['measured'] => ({
  searches: Number(row.searches ?? 0),
  input_characters: numberOf(row.input_characters),
  output_characters: numberOf(row.output_characters),
  processing_ms: numberOf(row.processing_ms),
})

const numberOf = (count: bigint | null) => (count === null ? null : Number(count))

const toPassed = ({ model, provider, connection_id, reason }: Passed): LogAttempt => ({
  connection_id,
  provider,
  model,
  status: 'passed_over',
  error_code: reason,
  latency_ms: 0,
})

const toAttempt = (row: AttemptRow): LogAttempt => ({
  connection_id: row.connection_id,
  provider: row.provider,
  model: row.model,
  status: statusOf(row.outcome),
  error_code: codeOf(row),
  latency_ms: row.duration_ms,
})

function statusOf(outcome: string): LogAttempt['status'] {
  if (outcome === 'ok') return 'success'
  return outcome === 'cancelled' ? 'cancelled' : 'error'
}

function codeOf({ outcome, reason }: AttemptRow): string | null {
  if (outcome === 'ok' || outcome === 'cancelled') return null
  if (outcome === 'failed_over') return reason
  return outcome === 'orphan' ? 'internal_error' : outcome
}

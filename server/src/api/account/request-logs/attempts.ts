import { sql, type Kysely } from 'kysely'
import { toChargeLines, type ChargedRow } from './charge-lines'
import type { LogAttempt, LogDetails } from './schema'
import type { LogRow } from './log-answer'
import { readConnectionNames } from './names'
import { toChargedPrice } from '../../../catalog/charged-price'
import type { Schema } from '../../../platform/db/schema'
import type { LogOwner } from '../../../request-logs/log-owner'
import { toUsd } from '../../../wire/usd'

interface SkippedCandidate {
  model: string
  provider: string
  connection_id: string | null
  reason: string
}

/** The reason that a failing candidate is skipped for. */
const failing = 'gateway_unavailable'

interface AttemptRow extends ChargedRow {
  model: string
  provider: string
  connection_id: string | null
  outcome: string
  reason: string | null
  started_at: Date
  duration_ms: number
  first_token_ms: number | null
  passed_over: SkippedCandidate[] | null
}

/** The parts of a log that its attempts fill. */
type Attempted = Pick<LogDetails, 'resolution_attempts' | 'pricing' | 'charges' | 'measured'>

/**
 * Lists the attempts of a request in order, each behind the candidates that were skipped before it. `reader` sees the
 * names of its own connections.
 */
export async function toAttempts(
  db: Kysely<Schema>,
  { id, user_id, started_at, latency_ms }: LogRow,
  reader: LogOwner,
): Promise<Attempted> {
  // Attempts begin within their request, so that partitions of other days are skipped.
  const { rows } = await sql<AttemptRow>`
    select model, provider, connection_id, outcome, reason, started_at, duration_ms, first_token_ms,
      case billing_mode when 'house' then coalesce(price, 0) else cost - written_off end as charged,
      passed_over, pricing, searches, input_characters, output_characters, processing_ms,
      audio_ms, input_tokens, cached_input_tokens, cache_write_tokens, cache_write_1h_tokens,
      image_input_tokens, image_output_tokens, output_tokens, reasoning_tokens,
      audio_input_tokens, audio_output_tokens
    from usage_event
    where request_id = ${id} and user_id = ${user_id}
      and started_at between ${started_at}::timestamptz - interval '1 minute'
        and ${started_at}::timestamptz + interval '1 day'
    order by started_at, id`.execute(db)
  const names = await readConnectionNames(
    db,
    reader,
    rows.flatMap((row) => [row, ...(row.passed_over ?? [])]).map((one) => one.connection_id),
  )
  const winner = rows.find(({ outcome }) => outcome === 'ok')
  const successful = winner && {
    connection_id: winner.connection_id,
    provider: winner.provider,
    model: winner.model,
  }
  const last = rows.at(-1)
  return {
    pricing: toChargedPrice(last?.pricing),
    charges: last ? toChargeLines(last) : null,
    measured: last ? toMeasured(last) : null,
    resolution_attempts: {
      summary: {
        total_candidates_tried: rows.length,
        successful_candidate: successful ?? null,
        total_duration_ms: latency_ms,
      },
      attempts: rows.flatMap((row) => {
        const position = { names, startedMs: Math.max(0, Number(row.started_at) - +started_at) }
        const { skipped, isLastRoute } = splitLastRoute(row)
        return [
          ...skipped.map((one) => toSkippedAttempt(one, position)),
          { ...toAttempt(row, position), last_route: isLastRoute },
        ]
      }),
    },
  }
}

/**
 * Separates the candidates that were skipped before an attempt from the one that it was: one that is skipped as failing is
 * tried after all where there is no other. Source: contract 10.2.
 */
function splitLastRoute(row: AttemptRow) {
  const skippedCandidates = row.passed_over ?? []
  const at = skippedCandidates.findIndex(
    ({ model, provider, connection_id: id, reason }) =>
      reason === failing &&
      model === row.model &&
      provider === row.provider &&
      id === row.connection_id,
  )
  return { skipped: skippedCandidates.filter((_, index) => index !== at), isLastRoute: at >= 0 }
}

const toMeasured = (row: AttemptRow): LogDetails['measured'] => ({
  searches: Number(row.searches ?? 0),
  input_characters: numberOf(row.input_characters),
  output_characters: numberOf(row.output_characters),
  processing_ms: numberOf(row.processing_ms),
  audio_ms: numberOf(row.audio_ms),
})

const numberOf = (count: bigint | null) => (count === null ? null : Number(count))

/** The names of connections, and the milliseconds from the start of the request to that of the attempt. */
interface AttemptPosition {
  names: ReadonlyMap<string, string>
  startedMs: number
}

const toSkippedAttempt = (
  { model, provider, connection_id, reason }: SkippedCandidate,
  { names, startedMs }: AttemptPosition,
): LogAttempt => ({
  connection_id,
  connection_name: names.get(connection_id ?? '') ?? null,
  provider,
  model,
  status: 'passed_over',
  error_code: reason,
  started_ms: startedMs,
  latency_ms: 0,
  time_to_first_token_ms: null,
  cost: 0,
  last_route: false,
})

const toAttempt = (
  row: AttemptRow,
  { names, startedMs }: AttemptPosition,
): Omit<LogAttempt, 'last_route'> => ({
  connection_id: row.connection_id,
  connection_name: names.get(row.connection_id ?? '') ?? null,
  provider: row.provider,
  model: row.model,
  status: statusOf(row.outcome),
  error_code: codeOf(row),
  started_ms: startedMs,
  latency_ms: row.duration_ms,
  time_to_first_token_ms: row.first_token_ms,
  cost: toUsd(row.charged),
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

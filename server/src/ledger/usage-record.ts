import type { UsageEvent } from './usage-event'

/** What booking needs to know of a usage event; amounts in nano-dollars. */
export interface Charge {
  id: string
  /** ISO 8601, in UTC. */
  startedAt: string
  accountId: string | null
  leaseId: string | null
  cost: bigint
  fromLease: bigint
  /** Its process died, or seems to have. */
  isOrphan: boolean
}

/**
 * A usage event as the journal keeps it and the ledger books it: a row of `usage_event` as JSON,
 * amounts as decimal text, times as ISO 8601.
 */
export const toRecord = (event: UsageEvent): string =>
  JSON.stringify({
    id: event.id,
    started_at: event.startedAt,
    request_id: event.requestId,
    user_id: event.userId,
    key_id: event.keyId,
    account_id: event.accountId,
    lease_id: event.leaseId,
    billing_mode: event.billingMode,
    operation: event.operation,
    model: event.model,
    provider: event.provider,
    connection_id: event.connectionId,
    streamed: event.streamed,
    outcome: event.outcome,
    state: event.state,
    duration_ms: event.durationMs,
    first_token_ms: event.firstTokenMs,
    input_tokens: event.tokens.input,
    cached_input_tokens: event.tokens.cachedInput,
    cache_write_tokens: event.tokens.cacheWrite,
    output_tokens: event.tokens.output,
    reasoning_tokens: event.tokens.reasoning,
    audio_input_tokens: event.tokens.audioInput,
    audio_output_tokens: event.tokens.audioOutput,
    estimated: event.estimated,
    pricing: event.pricing,
    cost: String(event.cost),
    from_lease: String(event.fromLease),
  })

/** Reads a record. Throws on what `toRecord` did not write: a charge is never guessed at. */
export function chargeOf(record: string): Charge {
  const row = parsed(record)
  const { id, started_at: startedAt, cost, from_lease: fromLease } = row
  if (
    typeof id !== 'string' ||
    typeof startedAt !== 'string' ||
    typeof cost !== 'string' ||
    typeof fromLease !== 'string'
  ) {
    throw new Error('the journal holds what is no usage event')
  }
  return {
    id,
    startedAt,
    accountId: textOrNull(row['account_id']),
    leaseId: textOrNull(row['lease_id']),
    cost: BigInt(cost),
    fromLease: BigInt(fromLease),
    isOrphan: row['state'] === 'orphan',
  }
}

/** The record of an attempt that was open when its process died: visible, and charged nothing. */
export const asOrphan = (record: string): string =>
  JSON.stringify({
    ...parsed(record),
    state: 'orphan',
    outcome: 'orphan',
    cost: '0',
    from_lease: '0',
  })

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

const isRow = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(record: string): Record<string, unknown> {
  const row: unknown = JSON.parse(record)
  if (!isRow(row)) throw new Error('the journal holds what is no usage event')
  return row
}

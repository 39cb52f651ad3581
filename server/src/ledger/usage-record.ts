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
 * A record's columns of `usage_event`, in order, and their types there. Names are not repeated in each
 * record: two are written, read and sent for every request, and half of each would be names.
 */
export const recordColumns = [
  ['id', 'text'],
  ['started_at', 'timestamptz'],
  ['account_id', 'text'],
  ['lease_id', 'text'],
  ['cost', 'bigint'],
  ['from_lease', 'bigint'],
  ['state', 'text'],
  ['outcome', 'text'],
  ['request_id', 'text'],
  ['user_id', 'text'],
  ['key_id', 'text'],
  ['billing_mode', 'text'],
  ['operation', 'text'],
  ['model', 'text'],
  ['provider', 'text'],
  ['connection_id', 'text'],
  ['streamed', 'boolean'],
  ['duration_ms', 'integer'],
  ['first_token_ms', 'integer'],
  ['input_tokens', 'bigint'],
  ['cached_input_tokens', 'bigint'],
  ['cache_write_tokens', 'bigint'],
  ['output_tokens', 'bigint'],
  ['reasoning_tokens', 'bigint'],
  ['audio_input_tokens', 'bigint'],
  ['audio_output_tokens', 'bigint'],
  ['estimated', 'boolean'],
  ['pricing', 'jsonb'],
] as const

/**
 * A usage event as the journal keeps it and the ledger books it: the values of `recordColumns` as a
 * JSON array, amounts as decimal text, times as ISO 8601.
 */
export const toRecord = (event: UsageEvent): string =>
  JSON.stringify([
    event.id,
    event.startedAt,
    event.accountId,
    event.leaseId,
    String(event.cost),
    String(event.fromLease),
    event.state,
    event.outcome,
    event.requestId,
    event.userId,
    event.keyId,
    event.billingMode,
    event.operation,
    event.model,
    event.provider,
    event.connectionId,
    event.streamed,
    event.durationMs,
    event.firstTokenMs,
    event.tokens.input,
    event.tokens.cachedInput,
    event.tokens.cacheWrite,
    event.tokens.output,
    event.tokens.reasoning,
    event.tokens.audioInput,
    event.tokens.audioOutput,
    event.estimated,
    event.pricing,
  ])

// None of the values that a charge is made of has a comma in it.
const chargePart = /^\[(?:[^,]*,){6}[^,]*/

/** Reads a record. Throws on what `toRecord` did not write: a charge is never guessed at. */
export function chargeOf(record: string): Charge {
  const [id, startedAt, accountId, leaseId, cost, fromLease, state] = valuesOf(
    `${chargePart.exec(record)?.[0] ?? ''}]`,
  )
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
    accountId: textOrNull(accountId),
    leaseId: textOrNull(leaseId),
    cost: BigInt(cost),
    fromLease: BigInt(fromLease),
    isOrphan: state === 'orphan',
  }
}

/** The record of an attempt that was open when its process died: visible, and charged nothing. */
export function asOrphan(record: string): string {
  const [id, startedAt, accountId, leaseId, _cost, _fromLease, _state, _outcome, ...rest] =
    valuesOf(record)
  return JSON.stringify([id, startedAt, accountId, leaseId, '0', '0', 'orphan', 'orphan', ...rest])
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

function valuesOf(list: string): unknown[] {
  const values: unknown = JSON.parse(list)
  if (!Array.isArray(values)) throw new Error('the journal holds what is no usage event')
  return values
}

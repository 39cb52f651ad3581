import { storable } from '../platform/db/storable'
import type { PassedOver, TokenCounts, UsageEvent } from './usage-event'

/** The part of a usage event that booking needs; amounts in nano-dollars. */
export interface Charge {
  id: string
  /** ISO 8601, in UTC. */
  startedAt: string
  accountId: string | null
  leaseId: string | null
  cost: bigint
  fromLease: bigint
  /** The account that earns what is paid, less the platform's fee; null where that is the house. */
  payeeId: string | null
  feeMillionths: number
  /** Set where its process died, or seems to have. */
  isOrphan: boolean
}

/**
 * A record's columns of `usage_event`, in order, and their types there: first what is known when an
 * attempt ends, then what has been known since it began. Names are not repeated in each record: two are
 * written, read and sent for every request, and half of each would be names.
 */
export const recordColumns = [
  ['cost', 'bigint'],
  ['from_lease', 'bigint'],
  ['lease_id', 'text'],
  ['state', 'text'],
  ['outcome', 'text'],
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
  ['id', 'text'],
  ['started_at', 'timestamptz'],
  ['account_id', 'text'],
  ['request_id', 'text'],
  ['user_id', 'text'],
  ['key_id', 'text'],
  ['billing_mode', 'text'],
  ['operation', 'text'],
  ['model', 'text'],
  ['provider', 'text'],
  ['connection_id', 'text'],
  ['streamed', 'boolean'],
  ['pricing', 'jsonb'],
  // Since 0010; a record from before ends here.
  ['organization_id', 'text'],
  ['fee_millionths', 'integer'],
  // Nearly all records end here: what a record does not have is null.
  ['requested_model', 'text'],
  ['passed_over', 'jsonb'],
  ['reason', 'text'],
  // Since 0013.
  ['price', 'bigint'],
  // Since 0034; the first three are parts of the counts above.
  ['cache_write_1h_tokens', 'bigint'],
  ['image_input_tokens', 'bigint'],
  ['image_output_tokens', 'bigint'],
  ['searches', 'bigint'],
  // Since 0045.
  ['input_characters', 'bigint'],
  ['output_characters', 'bigint'],
  ['processing_ms', 'bigint'],
] as const

const placeOf = (column: (typeof recordColumns)[number][0]) =>
  recordColumns.findIndex(([name]) => name === column)
const placeOfMode = placeOf('billing_mode')
const placeOfOrganization = placeOf('organization_id')
const placeOfFee = placeOf('fee_millionths')
const columnsOfEnd = placeOf('id')
/** The number of columns of the oldest records. */
const fewestColumns = placeOfOrganization

/**
 * Writes a usage event as the journal keeps it and the ledger books it: the values of `recordColumns` as a JSON
 * array, amounts as decimal text, times as ISO 8601. An event that has not ended is written as it stands.
 */
export function toRecord(event: UsageEvent): string {
  const { cost, fromLease, tokens } = event
  const costText = String(cost)
  // One list and its text: assembled from pieces it would be dozens of texts, for every request twice.
  const values: unknown[] = [
    costText,
    fromLease === cost ? costText : String(fromLease),
    event.leaseId,
    event.state,
    event.outcome,
    event.durationMs,
    event.firstTokenMs,
    tokens.input + tokens.imageInput,
    tokens.cachedInput,
    tokens.cacheWrite + tokens.cacheWriteLong,
    tokens.output + tokens.imageOutput,
    tokens.reasoning,
    tokens.audioInput,
    tokens.audioOutput,
    event.estimated,
    event.id,
    event.startedAt,
    event.accountId,
    event.requestId,
    event.userId,
    event.keyId,
    event.billingMode,
    event.operation,
    event.model,
    event.provider,
    event.connectionId,
    event.streamed,
    event.pricing,
    event.organizationId,
    event.feeMillionths,
  ]
  addLast(values, event)
  return JSON.stringify(values)
}

/** Few events have the last columns; beyond the columns only the name is a caller's text. */
function addLast(values: unknown[], event: UsageEvent): void {
  const { requestedModel, passedOver, reason, price, tokens } = event
  const last = [
    requestedModel && storable(requestedModel),
    passedOver?.map(toPassedOver) ?? null,
    reason,
    price === null ? null : String(price),
    ...seldomOf(tokens),
  ]
  const length = last.findLastIndex((value) => value !== null) + 1
  for (const value of last.slice(0, length)) values.push(value)
}

const none: readonly number[] = []

function seldomOf(tokens: TokenCounts): readonly (number | null)[] {
  const { cacheWriteLong, imageInput, imageOutput, searches } = tokens
  const { inputCharacters, outputCharacters, processingMs } = tokens
  const isMeasured = inputCharacters !== undefined || processingMs !== undefined
  if (!isMeasured && cacheWriteLong + imageInput + imageOutput + searches === 0) return none
  const counted = [cacheWriteLong, imageInput, imageOutput, searches]
  if (!isMeasured) return counted
  return [...counted, inputCharacters ?? null, outputCharacters ?? null, processingMs ?? null]
}

const toPassedOver = ({ model, provider, connectionId, reason }: PassedOver) => ({
  model,
  provider,
  connection_id: connectionId,
  reason,
})

/** Returns the charge of an event that was just made. */
export const toCharge = (event: UsageEvent): Charge => ({
  id: event.id,
  startedAt: event.startedAt,
  accountId: event.accountId,
  leaseId: event.leaseId,
  cost: event.cost,
  fromLease: event.fromLease,
  payeeId: payeeOf(event.billingMode, event.organizationId),
  feeMillionths: event.feeMillionths ?? 0,
  isOrphan: event.state === 'orphan',
})

/** Only a member pays the organization; its own payments go to the house. */
const payeeOf = (mode: unknown, organizationId: string | null) =>
  mode === 'member_pays' ? organizationId : null

/** Returns a record with all columns, and its charge. Throws as `chargeOf`. */
export function readRecord(record: string): { record: string; charge: Charge } {
  const values = valuesOf(record)
  return { record: JSON.stringify(values), charge: chargeIn(values) }
}

/** Reads the charge of a record. Throws on what `toRecord` did not write: a charge is never guessed at. */
export const chargeOf = (record: string): Charge => chargeIn(valuesOf(record))

function chargeIn(values: readonly unknown[]): Charge {
  const [cost, fromLease, leaseId, state] = values
  const [id, startedAt, accountId] = values.slice(columnsOfEnd)
  const fee = values[placeOfFee]
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
    payeeId: payeeOf(values[placeOfMode], textOrNull(values[placeOfOrganization])),
    feeMillionths: typeof fee === 'number' ? fee : 0,
    isOrphan: state === 'orphan',
  }
}

/** Returns the record of an attempt that was open when its process died: visible, and charged nothing. */
export function toOrphanRecord(record: string): string {
  const [_cost, _fromLease, leaseId, _state, _outcome, ...rest] = valuesOf(record)
  return JSON.stringify(['0', '0', leaseId, 'orphan', 'orphan', ...rest])
}

/** Reads the text in a column of a record; null where there is none. Throws as `chargeOf`. */
export function readTexts(
  record: string,
): (column: (typeof recordColumns)[number][0]) => string | null {
  const values = valuesOf(record)
  return (column) => textOrNull(values[placeOf(column)])
}

/** Returns when the attempt of a record ended, in milliseconds since the epoch. */
export function getEndedAtMs(record: string): number {
  const values = valuesOf(record)
  const startedAt = textOrNull(values[placeOf('started_at')])
  return Date.parse(startedAt ?? '') + Number(values[placeOf('duration_ms')] ?? 0)
}

/** Returns whether a record is of a stream. */
export const isStreamed = (record: string): boolean =>
  valuesOf(record)[placeOf('streamed')] === true

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

function valuesOf(list: string): unknown[] {
  const values: unknown = JSON.parse(list)
  const all = recordColumns.length
  if (Array.isArray(values) && values.length >= fewestColumns && values.length <= all) {
    // Columns were added at the end since it was written.
    return [...values, ...Array<null>(all - values.length).fill(null)]
  }
  throw new Error('the journal holds what is no usage event')
}

import { storable } from '../platform/db/storable'
import type { PassedOver, UsageEvent } from './usage-event'
import type { TokenCounts } from '../wire/usage'

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
  // Since 0061.
  ['audio_ms', 'bigint'],
  // Since 0080: separated by commas, which no tag has.
  ['budget_tags', 'text'],
] as const

type ColumnName = (typeof recordColumns)[number][0]

/** Returns the position of a column in records. */
export const indexOf = (column: ColumnName): number =>
  recordColumns.findIndex(([name]) => name === column)
const organizationIndex = indexOf('organization_id')
/** The number of columns of the oldest records. */
const minColumns = organizationIndex
/** The columns of nearly all records. */
export const shortColumns = recordColumns.slice(0, indexOf('requested_model'))

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
    ...countsOf(tokens),
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
  if (!isShort(event)) addLast(values, event)
  return JSON.stringify(values)
}

/** Few events have the last columns; beyond the columns only the name is a caller's text. */
function addLast(values: unknown[], event: UsageEvent): void {
  const { requestedModel, passedOver, reason, price, tokens, budgetTags } = event
  const counts = seldomOf(tokens)
  const last = [
    requestedModel && storable(requestedModel),
    passedOver?.map(toPassedOver) ?? null,
    reason,
    price === null ? null : String(price),
    ...counts,
    ...(budgetTags ? [...noCounts.slice(counts.length), budgetTags.join(',')] : []),
  ]
  const length = last.findLastIndex((value) => value !== null) + 1
  for (const value of last.slice(0, length)) values.push(value)
}

const none: readonly number[] = []
/** The columns of `seldomOf` without a count. */
const noCounts: readonly null[] = Array.from({ length: 8 }, () => null)

function seldomOf(tokens: TokenCounts): readonly (number | null)[] {
  const { cacheWriteLong, imageInput, imageOutput, searches } = tokens
  const { inputCharacters, outputCharacters, processingMs, audioMs } = tokens
  const isMeasured = (inputCharacters ?? processingMs ?? audioMs) !== undefined
  if (!isMeasured && cacheWriteLong + imageInput + imageOutput + searches === 0) return none
  const countedUnits = [cacheWriteLong, imageInput, imageOutput, searches]
  if (!isMeasured) return countedUnits
  const measuredUnits = [inputCharacters, outputCharacters, processingMs, audioMs]
  return [...countedUnits, ...measuredUnits.map((count) => count ?? null)]
}

/** Returns whether the record of an event has the columns of `shortColumns`. */
export const isShort = ({
  requestedModel,
  passedOver,
  reason,
  price,
  tokens,
  budgetTags,
}: UsageEvent): boolean =>
  budgetTags === null &&
  requestedModel === null &&
  (passedOver ?? null) === null &&
  reason === null &&
  price === null &&
  seldomOf(tokens).length === 0

/** Returns the counts as their columns have them, in the order of these. */
export const countsOf = (tokens: TokenCounts): number[] => [
  tokens.input + tokens.imageInput,
  tokens.cachedInput,
  tokens.cacheWrite + tokens.cacheWriteLong,
  tokens.output + tokens.imageOutput,
  tokens.reasoning,
  tokens.audioInput,
  tokens.audioOutput,
]

const toPassedOver = ({ model, provider, connectionId, reason }: PassedOver) => ({
  model,
  provider,
  connection_id: connectionId,
  reason,
})

/** Returns the record of an attempt that was open when its process died: visible, and charged nothing. */
export function toOrphanRecord(record: string): string {
  const [_cost, _fromLease, leaseId, _state, _outcome, ...rest] = valuesOf(record)
  return JSON.stringify(['0', '0', leaseId, 'orphan', 'orphan', ...rest])
}

/** Reads the text in a column of a record; null where there is none. Throws as `valuesOf`. */
export function readTexts(record: string): (column: ColumnName) => string | null {
  const values = valuesOf(record)
  return (column) => textOrNull(values[indexOf(column)])
}

/** Returns when the attempt of a record ended, in milliseconds since the epoch. */
export function getEndedAtMs(record: string): number {
  const values = valuesOf(record)
  const startedAt = textOrNull(values[indexOf('started_at')])
  return Date.parse(startedAt ?? '') + Number(values[indexOf('duration_ms')] ?? 0)
}

/** Returns whether a record is of a stream. */
export const isStreamed = (record: string): boolean =>
  valuesOf(record)[indexOf('streamed')] === true

/** Returns the value of a text column. */
export const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** Reads the values of a record. Throws on what `toRecord` did not write. */
export function valuesOf(list: string): unknown[] {
  const values: unknown = JSON.parse(list)
  const all = recordColumns.length
  // It ends with its last value, or was written before columns were added.
  if (Array.isArray(values) && values.length >= minColumns && values.length <= all) return values
  throw new Error('the journal holds what is no usage event')
}

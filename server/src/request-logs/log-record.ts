import { getIdTime } from '../platform/db/id'
import { errors } from '../errors'
import { isStreamed, readTexts } from '../ledger/usage-record'
import { toTagLiteral } from '../wire/tags'

/**
 * The columns of `request_log` that a record has, in order, and their types there. A record is the
 * values as a JSON array, amounts as decimal text; `started_at` is the time in the id.
 */
export const logColumns = [
  ['id', 'text'],
  ['started_at', 'timestamptz'],
  ['user_id', 'text'],
  ['key_id', 'text'],
  ['api_key_prefix', 'text'],
  ['method', 'text'],
  ['endpoint', 'text'],
  ['streamed', 'boolean'],
  ['requested_model', 'text'],
  ['model', 'text'],
  ['provider', 'text'],
  ['status', 'text'],
  ['status_code', 'integer'],
  ['error', 'jsonb'],
  ['finish_reason', 'text'],
  ['latency_ms', 'integer'],
  ['first_token_ms', 'integer'],
  ['input_tokens', 'bigint'],
  ['output_tokens', 'bigint'],
  ['estimated', 'boolean'],
  ['cost', 'bigint'],
  ['platform_fee', 'bigint'],
  ['billing_mode', 'text'],
  ['account_id', 'text'],
  ['organization_id', 'text'],
  ['connection_id', 'text'],
  ['gateway_type', 'smallint'],
  ['concurrent', 'integer'],
  ['caller_user', 'text'],
  ['metadata', 'jsonb'],
  ['ip_address', 'text'],
  ['user_agent', 'text'],
  // Null where there was no cache. A record ends with its last value: so do those of versions with fewer columns.
  ['cached_tokens', 'bigint'],
  ['cache_write_tokens', 'bigint'],
  ['cache_savings', 'bigint'],
  // Null where nothing of the kind was made or read.
  ['images', 'integer'],
  ['sound_ms', 'bigint'],
  ['speech_characters', 'integer'],
  ['speech_ms', 'bigint'],
  // A literal of PostgreSQL.
  ['tags', 'text[]'],
  // Null where it is unknown, and where no provider was called.
  ['provider_cost', 'bigint'],
] as const

/** A value of each column; `startedAtMs` is milliseconds since the epoch. */
export interface LogValues {
  id: string
  userId: string
  keyId: string
  keyPrefix: string | null
  endpoint: string
  streamed: boolean
  requestedModel: string
  model: string
  provider: string | null
  status: 'success' | 'error' | 'cancelled'
  statusCode: number
  error: { type: string; code: string; message: string } | null
  finishReason: string | null
  latencyMs: number
  firstTokenMs: number | null
  inputTokens: number
  outputTokens: number
  estimated: boolean
  /** Nano-dollars. */
  cost: bigint
  platformFee: bigint
  billingMode: string | null
  accountId: string | null
  organizationId: string | null
  connectionId: string | null
  gatewayType: number | null
  concurrent: number
  callerUser: string | null
  metadata: object | null
  ipAddress: string
  userAgent: string
  cachedTokens: number
  cacheWriteTokens: number
  /** Nano-dollars; below zero where writing to a cache cost more than reading from it saved. */
  cacheSavings: bigint
  /** The number of images of the answer. */
  images: number | null
  /** Milliseconds of the sound that was transcribed. */
  soundMs: number | null
  /** Unicode code points of the text that was spoken, and milliseconds of its sound. */
  speechCharacters: number | null
  speechMs: number | null
  /** The tags of the request and its key, sorted; null for none. */
  tags: readonly string[] | null
  /** Nano-dollars that its provider bills the operator; null where that is unknown. */
  providerCost: bigint | null
}

/** The connection of an attempt, as far as its log shows it. */
export interface LoggedConnection {
  gatewayId?: string | null
  options?: { readonly hide_cached_tokens?: boolean }
}

/** The cache values of a request without a cache. */
export const noCache = { cachedTokens: 0, cacheWriteTokens: 0, cacheSavings: 0n }

/** The values of a request without images and sound. */
export const noMedia = {
  images: null,
  soundMs: null,
  speechCharacters: null,
  speechMs: null,
}

type ValueOfEach<Columns extends readonly unknown[]> = {
  -readonly [ColumnPosition in keyof Columns]: string | number | boolean | object | null
}
/** A value of each column: one that is forgotten does not compile. */
type RecordValues = ValueOfEach<typeof logColumns>

export const toLogRecord = (log: LogValues): string => encodeRecord(toRecordValues(log))

/** Returns the values of a record. */
export function toRecordValues(log: LogValues): RecordValues {
  const hasCache = log.cachedTokens > 0 || log.cacheWriteTokens > 0
  const costText = String(log.cost)
  const { providerCost } = log
  return [
    log.id,
    getIdTime(log.id),
    log.userId,
    log.keyId,
    log.keyPrefix,
    'POST',
    log.endpoint,
    log.streamed,
    log.requestedModel,
    log.model,
    log.provider,
    log.status,
    log.statusCode,
    log.error,
    log.finishReason,
    log.latencyMs,
    log.firstTokenMs,
    log.inputTokens,
    log.outputTokens,
    log.estimated,
    costText,
    String(log.platformFee),
    log.billingMode,
    log.accountId,
    log.organizationId,
    log.connectionId,
    log.gatewayType,
    log.concurrent,
    log.callerUser,
    log.metadata,
    log.ipAddress,
    log.userAgent,
    hasCache ? log.cachedTokens : null,
    hasCache ? log.cacheWriteTokens : null,
    hasCache ? String(log.cacheSavings) : null,
    log.images,
    log.soundMs,
    log.speechCharacters,
    log.speechMs,
    log.tags && toTagLiteral(log.tags),
    providerCost === null ? null : providerCost === log.cost ? costText : String(providerCost),
  ]
}

/** Returns the number of values in a record, which ends with its last one that is not null. */
export const countColumns = (values: readonly unknown[]): number =>
  values.findLastIndex((value) => value !== null) + 1

/** Encodes values without the nulls at the end, so that each one before them keeps the place of its column. */
export const encodeRecord = (values: readonly unknown[]): string =>
  JSON.stringify(values.slice(0, countColumns(values)))

const indexOf = (name: (typeof logColumns)[number][0]) =>
  logColumns.findIndex(([column]) => column === name)
const [costAt, feeAt] = [indexOf('cost'), indexOf('platform_fee')]

/**
 * Reduces the charge in the log record of a request that was charged less than it cost, by the part that the platform
 * bears; the platform's fee is paid last, as in the ledger.
 */
export function withCharge(record: string, writtenOff: bigint): string {
  const values: unknown = JSON.parse(record)
  if (!Array.isArray(values)) throw new Error('this is no log record')
  const [cost, fee] = [BigInt(values[costAt]), BigInt(values[feeAt])]
  const charged = cost - writtenOff
  const earnedAmount = cost - fee
  values[costAt] = String(charged)
  values[feeAt] = String(earnedAmount < charged ? charged - earnedAmount : 0n)
  return JSON.stringify(values)
}

const endpointOf: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
  moderations: '/v1/moderations',
  rerank: '/v1/rerank',
  images: '/v1/images/generations',
  speech: '/v1/audio/speech',
  transcriptions: '/v1/audio/transcriptions',
  translations: '/v1/audio/translations',
}

/**
 * Builds the log of a request whose process died while its attempt, a usage record, was open: its outcome is unknown,
 * and it cost nothing. `selfHosted`: connections of self-hosted gateways.
 */
export function toOrphanLog(
  usageRecord: string,
  selfHosted: ReadonlySet<string> = new Set(),
): string {
  const text = readTexts(usageRecord)
  const connectionId = text('connection_id')
  const model = text('model') ?? ''
  return toLogRecord({
    id: text('request_id') ?? '',
    userId: text('user_id') ?? '',
    keyId: text('key_id') ?? '',
    keyPrefix: null,
    endpoint: endpointOf[text('operation') ?? ''] ?? '',
    streamed: isStreamed(usageRecord),
    requestedModel: text('requested_model') ?? model,
    model,
    provider: text('provider'),
    status: 'error',
    statusCode: 500,
    error: {
      type: errors.internal_error.type,
      code: 'internal_error',
      message: 'The process that ran this request terminated before it had responded.',
    },
    finishReason: null,
    latencyMs: 0,
    firstTokenMs: null,
    inputTokens: 0,
    outputTokens: 0,
    estimated: false,
    cost: 0n,
    platformFee: 0n,
    billingMode: text('billing_mode'),
    accountId: text('account_id'),
    organizationId: text('organization_id'),
    connectionId,
    gatewayType: selfHosted.has(connectionId ?? '') ? selfHostedGateway : providerGateway,
    concurrent: 1,
    callerUser: null,
    metadata: null,
    ipAddress: '',
    userAgent: '',
    ...noCache,
    ...noMedia,
    tags: null,
    providerCost: null,
  })
}

/** The gateway type of connections that Tollgate calls itself. Source: contract 10.5. */
export const providerGateway = 2
/** The gateway type of connections through customers' own gateways. */
export const selfHostedGateway = 3

const userId = /"(user_[0-9a-z]{26})"/

/** Returns the accounts of log records, each once. */
export const usersOf = (records: Iterable<string>): Set<string> => {
  const users = new Set<string>()
  for (const record of records) {
    // The account's id precedes the texts that callers choose.
    const [, id] = userId.exec(record) ?? []
    if (id !== undefined) users.add(id)
  }
  return users
}

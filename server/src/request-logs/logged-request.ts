import { countColumns, toRecordValues, type LogValues } from './log-record'
import { isUncosted, revenueOf } from './platform-fee'
import { getIdTime } from '../platform/db/id'
import { toTagLiteral } from '../wire/tags'

/** The record of a request's log, and the values that are summed where `copyLogs` takes it. */
export interface LoggedRequest {
  text: string
  summed: SummedLog | undefined
}

/** The values of a log that its sums need, and the number of values in its record. */
export interface SummedLog {
  id: string
  startedAtMs: number
  userId: string
  keyId: string
  model: string
  status: string
  inputTokens: number
  outputTokens: number
  latencyMs: number
  /** Nano-dollars: its cost, the part that the house keeps, and the provider's cost as far as it is known. */
  cost: bigint
  revenue: bigint
  providerCost: bigint
  isUncosted: boolean
  accountId: string | null
  concurrent: number
  /** As limits count them. */
  images: number
  audioSeconds: number
  /** The literal of its tags; null for none. */
  tags: string | null
  columns: number
}

/** Returns the record of a log, which need not be parsed to be summed. */
export function toLoggedRequest(log: LogValues): LoggedRequest {
  const values: unknown[] = toRecordValues(log)
  const columns = countColumns(values)
  // Its own list, which nothing else reads.
  values.length = columns
  const text = JSON.stringify(values)
  const isCopyable = log.error === null && log.metadata === null && !text.includes('\\')
  return { text, summed: isCopyable ? toSummedLog(log, columns) : undefined }
}

const toSummedLog = (log: LogValues, columns: number): SummedLog => ({
  id: log.id,
  startedAtMs: getIdTime(log.id),
  userId: log.userId,
  keyId: log.keyId,
  model: summedModelOf(log),
  status: log.status,
  inputTokens: log.inputTokens,
  outputTokens: log.outputTokens,
  latencyMs: log.latencyMs,
  cost: log.cost,
  revenue: revenueOf(log),
  providerCost: log.providerCost ?? 0n,
  isUncosted: isUncosted(log),
  accountId: log.accountId,
  concurrent: log.concurrent,
  ...countLimitedMedia(log),
  tags: log.tags && toTagLiteral(log.tags),
  columns,
})

/** Returns the images and the seconds of sound that limits per minute count: those in chats count as tokens. */
export function countLimitedMedia({
  endpoint,
  images,
  soundMs,
  speechMs,
}: Pick<LogValues, 'endpoint' | 'images' | 'soundMs' | 'speechMs'>) {
  const isSound = endpoint.startsWith('/v1/audio/')
  return {
    images: endpoint.startsWith('/v1/images/') ? (images ?? 0) : 0,
    audioSeconds: isSound ? Math.ceil(((soundMs ?? 0) + (speechMs ?? 0)) / 1000) : 0,
  }
}

/** A name that is no model's is left out: it would stay in the sums for two years. */
export const summedModelOf = ({
  provider,
  requestedModel,
  model,
}: Pick<LogValues, 'provider' | 'requestedModel' | 'model'>): string =>
  provider === null && requestedModel === '' ? '' : model

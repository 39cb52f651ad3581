import { logColumns } from './log-record'
import { isUncosted, revenueOf } from './platform-fee'
import { countLimitedMedia, summedModelOf, type SummedLog } from './logged-request'
import { toText } from '../wire/json-body'

/** The logs of one minute by user, key, model and tags. */
export interface CountedLogs {
  minuteMs: number
  userId: string
  keyId: string
  model: string
  /** The literal of its tags; null for none. */
  tags: string | null
  requests: number
  successes: number
  failures: number
  cancellations: number
  inputTokens: number
  outputTokens: number
  /** Of successful requests. */
  latencyMs: number
  /** Nano-dollars. */
  cost: bigint
  /** The part of it that the user's own account paid. */
  ownCost: bigint
  /** The part of it that the house keeps, the provider's cost, and the number of requests where that is unknown. */
  revenue: bigint
  providerCost: bigint
  uncosted: number
  peakConcurrent: number
  images: number
  audioSeconds: number
}

type ColumnName = (typeof logColumns)[number][0]
const at = (column: ColumnName) => logColumns.findIndex(([name]) => name === column)
const positions = {
  id: at('id'),
  startedAt: at('started_at'),
  user: at('user_id'),
  key: at('key_id'),
  model: at('model'),
  requestedModel: at('requested_model'),
  provider: at('provider'),
  status: at('status'),
  inputTokens: at('input_tokens'),
  outputTokens: at('output_tokens'),
  latency: at('latency_ms'),
  cost: at('cost'),
  fee: at('platform_fee'),
  mode: at('billing_mode'),
  providerCost: at('provider_cost'),
  account: at('account_id'),
  concurrent: at('concurrent'),
  endpoint: at('endpoint'),
  images: at('images'),
  sound: at('sound_ms'),
  speech: at('speech_ms'),
  tags: at('tags'),
}

const minuteMs = 60_000

/** Reads the part of a log's record that is summed; undefined for values that `toLogRecord` did not write. */
export function readSummed(values: readonly unknown[]): SummedLog | undefined {
  const [id, startedAtMs] = [values[positions.id], values[positions.startedAt]]
  if (typeof id !== 'string' || typeof startedAtMs !== 'number') return undefined
  const [accountId, tags] = [values[positions.account], values[positions.tags]]
  return {
    id,
    startedAtMs,
    userId: toText(values[positions.user]),
    keyId: toText(values[positions.key]),
    model: summedModelOf({
      provider: values[positions.provider] === null ? null : toText(values[positions.provider]),
      requestedModel: toText(values[positions.requestedModel]),
      model: toText(values[positions.model]),
    }),
    status: toText(values[positions.status]),
    inputTokens: Number(values[positions.inputTokens]),
    outputTokens: Number(values[positions.outputTokens]),
    latencyMs: Number(values[positions.latency]),
    ...readAmounts(values),
    accountId: typeof accountId === 'string' ? accountId : null,
    concurrent: Number(values[positions.concurrent]),
    ...countLimitedMedia({
      endpoint: toText(values[positions.endpoint]),
      images: toCount(values[positions.images]),
      soundMs: toCount(values[positions.sound]),
      speechMs: toCount(values[positions.speech]),
    }),
    tags: typeof tags === 'string' ? tags : null,
    columns: values.length,
  }
}

/** A record ends before the first of its last columns that are null. */
const toCount = (value: unknown): number => Number(value ?? 0)
/** Reads the amounts of a record, and whether the provider's part of them is unknown. */
function readAmounts(values: readonly unknown[]) {
  const { [positions.mode]: mode, [positions.providerCost]: providerCost } = values
  const amounts = {
    billingMode: typeof mode === 'string' ? mode : null,
    cost: BigInt(toText(values[positions.cost])),
    platformFee: BigInt(toText(values[positions.fee])),
    providerCost: typeof providerCost === 'string' ? BigInt(providerCost) : null,
    inputTokens: Number(values[positions.inputTokens]),
    outputTokens: Number(values[positions.outputTokens]),
  }
  return {
    cost: amounts.cost,
    revenue: revenueOf(amounts),
    providerCost: amounts.providerCost ?? 0n,
    isUncosted: isUncosted(amounts),
  }
}

/** Counts logs without errors by minute, as `insert-logs.ts` does in SQL. */
export function sumLogs(logs: readonly SummedLog[]): CountedLogs[] {
  const sums = new Map<string, CountedLogs>()
  let last: { sum: CountedLogs; log: SummedLog } | undefined
  for (const log of logs) {
    // Most follow one of the same caller and minute.
    const sum = last && isAlike(last.log, log) ? last.sum : sumFor(log, sums)
    add(sum, log)
    if (sum !== last?.sum) last = { sum, log }
  }
  return [...sums.values()]
}

const toMinute = (startedAtMs: number) => startedAtMs - (startedAtMs % minuteMs)

const isAlike = (one: SummedLog, other: SummedLog) =>
  one.keyId === other.keyId &&
  one.model === other.model &&
  one.userId === other.userId &&
  one.tags === other.tags &&
  toMinute(one.startedAtMs) === toMinute(other.startedAtMs)

function sumFor(log: SummedLog, sums: Map<string, CountedLogs>): CountedLogs {
  const { userId, keyId, model, tags } = log
  const startsAtMs = toMinute(log.startedAtMs)
  const group = `${startsAtMs} ${userId} ${keyId} ${model}`
  const name = tags === null ? group : `${group}\n${tags}`
  const knownSum = sums.get(name)
  if (knownSum) return knownSum
  const sum: CountedLogs = {
    minuteMs: startsAtMs,
    userId,
    keyId,
    model,
    tags,
    requests: 0,
    successes: 0,
    failures: 0,
    cancellations: 0,
    inputTokens: 0,
    outputTokens: 0,
    latencyMs: 0,
    cost: 0n,
    ownCost: 0n,
    revenue: 0n,
    providerCost: 0n,
    uncosted: 0,
    peakConcurrent: 0,
    images: 0,
    audioSeconds: 0,
  }
  sums.set(name, sum)
  return sum
}

function add(sum: CountedLogs, log: SummedLog): void {
  const { status, cost } = log
  sum.requests += 1
  if (status === 'success') {
    sum.successes += 1
    sum.latencyMs += log.latencyMs
  } else if (status === 'error') sum.failures += 1
  else if (status === 'cancelled') sum.cancellations += 1
  sum.inputTokens += log.inputTokens
  sum.outputTokens += log.outputTokens
  sum.cost += cost
  if (log.accountId === log.userId) sum.ownCost += cost
  sum.revenue += log.revenue
  sum.providerCost += log.providerCost
  if (log.isUncosted) sum.uncosted += 1
  sum.peakConcurrent = Math.max(sum.peakConcurrent, log.concurrent)
  sum.images += log.images
  sum.audioSeconds += log.audioSeconds
}

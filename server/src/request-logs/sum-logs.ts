import { logColumns } from './log-record'
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
  peakConcurrent: number
}

/** The values of a log's record, by the positions of `logColumns`. */
export type LogRecordValues = readonly unknown[]

type ColumnName = (typeof logColumns)[number][0]
const at = (column: ColumnName) => logColumns.findIndex(([name]) => name === column)
const positions = {
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
  account: at('account_id'),
  concurrent: at('concurrent'),
  tags: at('tags'),
}

const minuteMs = 60_000

/** Counts logs without errors by minute, as `insert-logs.ts` does in SQL. */
export function sumLogs(logs: readonly LogRecordValues[]): CountedLogs[] {
  const sums = new Map<string, CountedLogs>()
  for (const log of logs) add(sumFor(log, sums), log)
  return [...sums.values()]
}

function sumFor(log: LogRecordValues, sums: Map<string, CountedLogs>): CountedLogs {
  const startedAtMs = Number(log[positions.startedAt])
  const startsAtMs = startedAtMs - (startedAtMs % minuteMs)
  const [userId, keyId] = [toText(log[positions.user]), toText(log[positions.key])]
  const model = summedModelOf(log)
  const tags = tagsOf(log)
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
    peakConcurrent: 0,
  }
  sums.set(name, sum)
  return sum
}

function add(sum: CountedLogs, log: LogRecordValues): void {
  const status = log[positions.status]
  const cost = BigInt(toText(log[positions.cost]))
  sum.requests += 1
  if (status === 'success') {
    sum.successes += 1
    sum.latencyMs += Number(log[positions.latency])
  } else if (status === 'error') sum.failures += 1
  else if (status === 'cancelled') sum.cancellations += 1
  sum.inputTokens += Number(log[positions.inputTokens])
  sum.outputTokens += Number(log[positions.outputTokens])
  sum.cost += cost
  if (log[positions.account] === log[positions.user]) sum.ownCost += cost
  sum.peakConcurrent = Math.max(sum.peakConcurrent, Number(log[positions.concurrent]))
}

const tagsOf = (log: LogRecordValues): string | null => {
  const tags = log[positions.tags]
  return typeof tags === 'string' ? tags : null
}

/** A name that is no model's is left out: it would stay in the sums for two years. */
const summedModelOf = (log: LogRecordValues): string =>
  log[positions.provider] === null && log[positions.requestedModel] === ''
    ? ''
    : toText(log[positions.model])

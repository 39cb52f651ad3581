import { z } from 'zod'
import type { LogCondition } from './conditions'
import { maxLogGroups, type LogSums } from '../log-sums'
import type { SampleLimits, TimingCount, TimingSamples } from '../timing-samples'
import type { ClickHouse } from '../../platform/clickhouse/client'

const integer = z.coerce.bigint()

const Totals = z
  .object({
    requests: integer,
    successes: integer,
    failures: integer,
    cancellations: integer,
    input_tokens: integer,
    output_tokens: integer,
    cached_tokens: integer,
    cache_write_tokens: integer,
    cache_savings: integer,
    cost: integer,
    success_ms: integer,
  })
  .transform(({ success_ms: successMs, ...totals }) => ({
    ...totals,
    mean_ms: totals.successes === 0n ? null : Number(successMs) / Number(totals.successes),
  }))

const groupFields = {
  requests: integer,
  input_tokens: integer,
  output_tokens: integer,
  cached_tokens: integer,
  cache_savings: integer,
  cost: integer,
}
const NamedGroup = z.object({ name: z.string().nullable(), ...groupFields })
const KeyGroup = z.object({
  name: z.string().nullable(),
  prefix: z.string().nullable(),
  ...groupFields,
})
const ErrorCount = z.object({ code: z.string(), count: integer })
const Sample = z.object({ ms: z.coerce.number(), count: z.coerce.number() })

// An alias that is a column's name would stand for the sum in conditions, too.
const groupSums = `count() AS requests, sum(l.input_tokens) AS input_tokens, sum(l.output_tokens) AS output_tokens,
  ifNull(sum(l.cached_tokens), 0) AS cached_tokens, ifNull(sum(l.cache_savings), 0) AS cache_savings, sum(l.cost) AS cost`

const columns = [
  'status',
  'model',
  'provider',
  'key_id',
  'api_key_prefix',
  'account_id',
  'billing_mode',
  'error',
  'latency_ms',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_savings',
  'cost',
].join(', ')

/** The logs that a condition matches, as a table `l`. */
const matching = ({ text }: LogCondition) =>
  `(SELECT ${columns} FROM request_log FINAL WHERE ${text}) AS l`

/** Sums the logs that a condition matches. */
export async function readStoredSums(
  clickHouse: ClickHouse,
  condition: LogCondition,
): Promise<LogSums> {
  const parameters = { ...condition.parameters, groups: maxLogGroups }
  const groupsBy = (column: string) =>
    clickHouse.select(
      {
        text: `SELECT l.${column} AS name, ${groupSums}
FROM ${matching(condition)} GROUP BY name ORDER BY requests DESC, name LIMIT {groups:UInt32}`,
        parameters,
      },
      NamedGroup,
    )
  const [[totals], models, providers, payers, modes, keys, errors] = await Promise.all([
    clickHouse.select(
      {
        text: `SELECT ${groupSums}, countIf(l.status = 'success') AS successes, countIf(l.status = 'error') AS failures,
  countIf(l.status = 'cancelled') AS cancellations, ifNull(sum(l.cache_write_tokens), 0) AS cache_write_tokens,
  sumIf(l.latency_ms, l.status = 'success') AS success_ms
FROM ${matching(condition)}`,
        parameters: condition.parameters,
      },
      Totals,
    ),
    groupsBy('model'),
    groupsBy('provider'),
    groupsBy('account_id'),
    groupsBy('billing_mode'),
    clickHouse.select(
      {
        text: `SELECT l.key_id AS name, nullIf(max(l.api_key_prefix), '') AS prefix, ${groupSums}
FROM ${matching(condition)} GROUP BY name ORDER BY requests DESC, name LIMIT {groups:UInt32}`,
        parameters,
      },
      KeyGroup,
    ),
    clickHouse.select(
      {
        text: `SELECT JSONExtractString(l.error, 'code') AS code, count() AS count
FROM ${matching(condition)} WHERE l.error IS NOT NULL GROUP BY code ORDER BY count DESC, code LIMIT {groups:UInt32}`,
        parameters,
      },
      ErrorCount,
    ),
  ])
  if (!totals) throw new Error('sums without a row')
  const byKey = keys.map(({ name, ...group }) => ({ id: name, ...group }))
  return { totals, models, providers, keys: byKey, payers, modes, errors }
}

/** Reads the times of the newest successful requests that a condition matches. */
export async function readStoredSamples(
  clickHouse: ClickHouse,
  { text, parameters }: LogCondition,
  { timed, weighed }: SampleLimits,
): Promise<TimingSamples> {
  const samplesOf = (expression: string, limit: number): Promise<TimingCount[]> =>
    clickHouse.select(
      {
        text: `SELECT ms, count() AS count FROM (
  SELECT ${expression} AS ms FROM request_log FINAL WHERE ${text} AND status = 'success'
  ORDER BY id DESC LIMIT {limit:UInt32}
) WHERE ms IS NOT NULL GROUP BY ms ORDER BY ms`,
        parameters: { ...parameters, limit },
      },
      Sample,
    )
  const [latencies, firstTokens, overheads] = await Promise.all([
    samplesOf('latency_ms', timed),
    samplesOf('first_token_ms', timed),
    // The greatest of nothing and 0 would be 0.
    samplesOf('if(attempts_ms IS NULL, NULL, greatest(latency_ms - attempts_ms, 0))', weighed),
  ])
  return { latencies, firstTokens, overheads }
}

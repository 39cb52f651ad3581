import type { Selectable } from 'kysely'
import type { Log } from './schema'
import type { RequestLogRow } from '../../../platform/db/request-log-schema'
import { toTimestamp } from '../../../http/fields'
import { payerOf } from '../../../http/payer'
import { toUsd } from '../../../wire/usd'

export type LogRow = Selectable<RequestLogRow>

/** The columns that the list reads. */
export const listedColumns = [
  'id',
  'started_at',
  'model',
  'requested_model',
  'provider',
  'status',
  'status_code',
  'latency_ms',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_savings',
  'images',
  'sound_ms',
  'speech_characters',
  'speech_ms',
  'tags',
  'cost',
  'billing_mode',
  'account_id',
  'api_key_prefix',
  'user_id',
  'key_id',
  'error',
] as const satisfies readonly (keyof LogRow)[]

/** A log as the list reads it. */
export type ListedLog = Pick<LogRow, (typeof listedColumns)[number]>

/** The names that logs are shown with, by the ids of keys and of organizations. */
export interface LogNames {
  keys: ReadonlyMap<string, string>
  organizations: ReadonlyMap<string, string>
}

export const toListed = (row: ListedLog, names: LogNames) => ({
  id: row.id,
  model: row.model,
  requested_model: row.requested_model,
  provider: row.provider,
  status: row.status,
  status_code: row.status_code,
  latency_ms: row.latency_ms,
  input_tokens: Number(row.input_tokens),
  output_tokens: Number(row.output_tokens),
  total_tokens: Number(row.input_tokens + row.output_tokens),
  cached_tokens: Number(row.cached_tokens ?? 0),
  cache_write_tokens: Number(row.cache_write_tokens ?? 0),
  cache_savings: toUsd(row.cache_savings ?? 0n),
  images: row.images ?? 0,
  sound_seconds: Number(row.sound_ms ?? 0n) / 1000,
  speech_characters: row.speech_characters ?? 0,
  speech_seconds: Number(row.speech_ms ?? 0n) / 1000,
  tags: row.tags ?? [],
  cost: toUsd(row.cost),
  billing_mode: row.billing_mode,
  payer: payerOf(row),
  payer_name: names.organizations.get(row.account_id ?? '') ?? null,
  created_at: toTimestamp(row.started_at),
  api_key_prefix: row.api_key_prefix,
  api_key_name: names.keys.get(row.key_id ?? '') ?? null,
  error: row.error,
})

export const toLog = (row: LogRow, names: LogNames): Log => ({
  ...toListed(row, names),
  method: row.method,
  endpoint: row.endpoint,
  stream: row.streamed,
  api_key_id: row.key_id,
  finish_reason: row.finish_reason,
  connection_id: row.connection_id,
  gateway_type: row.gateway_type,
  organization_id: row.organization_id,
  organization_name: names.organizations.get(row.organization_id ?? '') ?? null,
  time_to_first_token_ms: row.first_token_ms,
  user: row.caller_user,
  metadata: row.metadata,
  ip_address: row.ip_address,
  user_agent: row.user_agent,
  platform_fee: toUsd(row.platform_fee),
  provider_revenue: toUsd(row.cost - row.platform_fee),
  estimated: row.estimated,
})

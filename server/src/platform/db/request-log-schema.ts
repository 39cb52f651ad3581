import type { Generated } from 'kysely'

/** The log of one request to a model endpoint, as shown to its caller; `id` is that of the request. */
export interface RequestLogRow {
  id: string
  /** The time in `id`, so that a log written twice conflicts with itself. */
  started_at: Date
  user_id: string
  key_id: string | null
  api_key_prefix: string | null
  method: string
  endpoint: string
  streamed: boolean
  /** The model that the caller named; empty if the body was not read. */
  requested_model: string
  model: string
  /** Null if no provider was called. */
  provider: string | null
  status: 'success' | 'error' | 'cancelled'
  status_code: number
  error: { type: string; code: string; message: string } | null
  finish_reason: string | null
  /** Up to the last byte. */
  latency_ms: number
  first_token_ms: number | null
  input_tokens: bigint
  output_tokens: bigint
  /** Whether Tollgate counted the tokens, instead of the provider. */
  estimated: boolean
  /** The charged amount in nano-dollars, and the platform's part of it. */
  cost: bigint
  platform_fee: bigint
  billing_mode: 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free' | null
  /** The account that paid. */
  account_id: string | null
  organization_id: string | null
  connection_id: string | null
  gateway_type: number | null
  concurrent: number
  caller_user: string | null
  metadata: Record<string, unknown> | null
  ip_address: string
  user_agent: string
  /** The prompt tokens that were read from a cache and written to one; null for none. */
  cached_tokens: bigint | null
  cache_write_tokens: bigint | null
  /** Nano-dollars that the cache saved of the price; negative if it cost more. */
  cache_savings: bigint | null
  /** The number of images of the answer; null for none. */
  images: number | null
  /** Milliseconds of the sound that was transcribed; null for none. */
  sound_ms: bigint | null
  /** Unicode code points of the text that was spoken, and milliseconds of its sound; null for none. */
  speech_characters: number | null
  speech_ms: bigint | null
  /** The tags of the request and its key, sorted; null for none. */
  tags: string[] | null
  /** Nano-dollars that the provider bills the operator; null where that is unknown, and for none. */
  provider_cost: bigint | null
}

/** The bodies of request and answer, if operator and account both want them stored; truncated, and without secrets. */
interface RequestBodyRow {
  id: string
  started_at: Date
  user_id: string
  request_body: string | null
  response_body: string | null
}

/**
 * Logs summed by hour and by day in UTC, key and model. The key is empty for requests without one, the model for
 * unknown names.
 */
interface RequestSumRow {
  grain: 'quarter_hour' | 'hour' | 'day'
  starts_at: Date
  user_id: string
  key_id: string
  model: string
  requests: bigint
  successes: bigint
  failures: bigint
  cancellations: bigint
  input_tokens: bigint
  output_tokens: bigint
  /** The sum over successful requests. */
  latency_ms: bigint
  /** Nano-dollars, and the part of them that the account itself paid. */
  cost: bigint
  own_cost: bigint
  /** The part of them that the house keeps, and what providers bill it; both since 0083. */
  revenue: Generated<bigint>
  provider_cost: Generated<bigint>
  /** Requests whose provider's cost is unknown. */
  uncosted: Generated<bigint>
  peak_concurrent: number
}

/** Logs with tags summed as in `request_sum`, by their set of tags, too. */
interface RequestTagSumRow extends Omit<RequestSumRow, 'cancellations' | 'peak_concurrent'> {
  tags: string[]
}

/** A set of tags that has sums of its own on a day in UTC. */
interface RequestTagSetRow {
  user_id: string
  day: Date
  tags: string[]
}

/** The number of requests that began in a minute, rejected ones included. */
interface RequestMinuteRow {
  user_id: string
  starts_at: Date
  requests: bigint
  tokens: bigint
  /** As limits count them: by requests for images and for sound alone. */
  images: Generated<bigint>
  audio_seconds: Generated<bigint>
}

/** The busiest minute of a day in UTC. */
interface RequestPeakRow {
  user_id: string
  day: Date
  requests_per_minute: bigint
  tokens_per_minute: bigint
  concurrent_requests: number
  images_per_minute: Generated<bigint>
  audio_seconds_per_minute: Generated<bigint>
}

export interface RequestLogSchema {
  request_log: RequestLogRow
  request_body: RequestBodyRow
  request_sum: RequestSumRow
  request_tag_sum: RequestTagSumRow
  request_tag_set: RequestTagSetRow
  request_minute: RequestMinuteRow
  request_peak: RequestPeakRow
}

/** One request to a model endpoint as its caller sees it; `id` is that of the request. */
export interface RequestLogRow {
  id: string
  /** The time in `id`, so that a log that comes twice meets itself. */
  started_at: Date
  user_id: string
  key_id: string | null
  api_key_prefix: string | null
  method: string
  endpoint: string
  streamed: boolean
  /** What the caller named; empty where that was not read. */
  requested_model: string
  model: string
  /** Null where nobody was asked. */
  provider: string | null
  status: 'success' | 'error' | 'cancelled'
  status_code: number
  error: { type: string; code: string; message: string } | null
  finish_reason: string | null
  /** To the last byte. */
  latency_ms: number
  first_token_ms: number | null
  input_tokens: bigint
  output_tokens: bigint
  /** The tokens were counted here, not by the provider. */
  estimated: boolean
  /** Nano-dollars that were charged, and the platform's part of them. */
  cost: bigint
  platform_fee: bigint
  billing_mode: 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free' | null
  /** Who paid. */
  account_id: string | null
  organization_id: string | null
  connection_id: string | null
  gateway_type: number | null
  concurrent: number
  caller_user: string | null
  metadata: Record<string, unknown> | null
  ip_address: string
  user_agent: string
  /** Of the prompt, what was read from a cache and what was written to one; null for none. */
  cached_tokens: bigint | null
  cache_write_tokens: bigint | null
  /** Nano-dollars that the cache saved of the price; below zero where it cost more. */
  cache_savings: bigint | null
}

/** What was asked and answered, where operator and account want it kept; cut, and without secrets. */
interface RequestBodyRow {
  id: string
  started_at: Date
  user_id: string
  request_body: string | null
  response_body: string | null
}

/**
 * Logs summed by hour and day of UTC, key and model. The key is empty where there was none, the model
 * where its name meant nothing.
 */
interface RequestSumRow {
  grain: 'hour' | 'day'
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
  /** Of those that succeeded. */
  latency_ms: bigint
  /** Nano-dollars, and the part of them that the account itself paid. */
  cost: bigint
  own_cost: bigint
  peak_concurrent: number
}

/** The requests that began in a minute, refused ones too. */
interface RequestMinuteRow {
  user_id: string
  starts_at: Date
  requests: bigint
  tokens: bigint
}

/** The highest minute of a day of UTC. */
interface RequestPeakRow {
  user_id: string
  day: Date
  requests_per_minute: bigint
  tokens_per_minute: bigint
  concurrent_requests: number
}

export interface RequestLogSchema {
  request_log: RequestLogRow
  request_body: RequestBodyRow
  request_sum: RequestSumRow
  request_minute: RequestMinuteRow
  request_peak: RequestPeakRow
}

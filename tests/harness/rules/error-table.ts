/** What a code may come with: its type, its statuses, and the keys `details` must have. */
interface ErrorRow {
  type: string
  statuses: readonly number[]
  details: readonly string[]
}

const row = (
  type: string,
  statuses: readonly number[],
  details: readonly string[] = [],
): ErrorRow => ({
  type,
  statuses,
  details,
})

const invalid = 'invalid_request_error'

/** The errors of the interface, written down a second time on purpose: this is the judge's copy. */
export const errorTable: Record<string, ErrorRow> = {
  invalid_request: row(invalid, [400], ['issue']),
  invalid_model: row(invalid, [400]),
  context_length_exceeded: row(invalid, [400], ['max_context', 'requested']),
  max_tokens_exceeded: row(invalid, [400], ['max_allowed', 'requested']),
  missing_api_key: row('authentication_error', [401]),
  invalid_api_key: row('authentication_error', [401]),
  expired_api_key: row('authentication_error', [401]),
  insufficient_credits: row('billing_error', [402], ['current_balance', 'minimum_required']),
  payment_required: row('billing_error', [402]),
  insufficient_permissions: row('authorization_error', [403], ['required', 'current']),
  model_access_denied: row('authorization_error', [403], ['model']),
  organization_required: row('authorization_error', [403]),
  model_not_found: row('not_found_error', [404]),
  resource_not_found: row('not_found_error', [404]),
  rate_limit_exceeded: row('rate_limit_error', [429], ['limit', 'window', 'retry_after']),
  tokens_per_minute_exceeded: row('rate_limit_error', [429], ['limit', 'used']),
  images_per_minute_exceeded: row('rate_limit_error', [429], ['limit', 'used']),
  audio_seconds_per_minute_exceeded: row('rate_limit_error', [429], ['limit', 'used']),
  internal_error: row('server_error', [500]),
  provider_error: row('gateway_error', [502, 503], ['provider', 'provider_error']),
  connection_failed: row('gateway_error', [502, 503]),
  gateway_unavailable: row('gateway_error', [503]),
  request_timeout: row('timeout_error', [504]),
}

import type { Provider } from '../../src/providers/provider'
import type { ApiError } from '../../src/errors'
import type { JsonObject } from '../../src/wire/json-body'

/** The subject of a refusal, for the table of docs/operate/providers.md. */
export type RefusalKind = 'request' | 'filter' | 'account' | 'limit'

/** One service's refusal, and the error that the caller receives. */
export interface RefusalRow {
  service: string
  /** Its key in the registry. */
  provider: Provider['key']
  kind: RefusalKind
  what: string
  status: number
  body: JsonObject
  error: Partial<ApiError>
}

/** Rows of one kind. */
export const rowOf =
  (kind: RefusalKind) =>
  (
    [service, provider, what]: readonly [string, string, string],
    [status, body]: readonly [number, JsonObject],
    error: Partial<ApiError>,
  ): RefusalRow => ({ kind, service, provider, what, status, body, error })

export const rejected = (message: string, param: string | null = null): Partial<ApiError> => ({
  code: 'invalid_request',
  status: 400,
  param,
  message,
  details: { issue: 'refused_by_provider' },
  retryable: false,
})
export const filtered: Partial<ApiError> = {
  code: 'invalid_request',
  status: 400,
  param: 'messages',
  details: { issue: 'content_filter' },
  retryable: false,
}
/** The connection's fault: another may do better, no repeat does. */
export const connections = (status: number, message: string): Partial<ApiError> => ({
  code: 'provider_error',
  status: 502,
  retryable: false,
  details: { provider: 'acme', provider_error: message },
  cause: { status },
})
export const tooHigh = (
  max_allowed: number | null,
  requested: number | null,
): Partial<ApiError> => ({
  code: 'max_tokens_exceeded',
  status: 400,
  param: 'max_tokens',
  details: { max_allowed, requested },
  retryable: false,
})

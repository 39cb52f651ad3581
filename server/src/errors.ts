import { z } from 'zod'

type Shape = Record<string, z.ZodType>

/** One error code that callers can receive. The first status is the default one. */
interface Row<Details extends Shape> {
  statuses: readonly [HttpStatus, ...HttpStatus[]]
  type: string
  message: string
  details: Details
}

/** The only statuses that leave the server. Source: contract 1.2. */
export type HttpStatus = 200 | 201 | 400 | 401 | 402 | 403 | 404 | 413 | 429 | 500 | 502 | 503 | 504

const kind =
  (statuses: Row<Shape>['statuses'], type: string) =>
  <Details extends Shape>(message: string, details: Details): Row<Details> => ({
    statuses,
    type,
    message,
    details,
  })

const invalid = kind([400], 'invalid_request_error')
const unauthenticated = kind([401], 'authentication_error')
const unpaid = kind([402], 'billing_error')
const forbidden = kind([403], 'authorization_error')
const notFoundKind = kind([404], 'not_found_error')
const limited = kind([429], 'rate_limit_error')
const gateway = (statuses: Row<Shape>['statuses']) => kind(statuses, 'gateway_error')

/** Values of `details.issue`. Source: contract 1.1. */
export const issues = [
  'required',
  'wrong_type',
  'unknown_value',
  'out_of_range',
  'too_short',
  'too_long',
  'too_many',
  'bad_format',
  'empty',
  'taken',
  'reserved',
  'duplicate',
  'conflict',
  'wrong_state',
  'legal_hold',
  'limit_reached',
  'not_allowed',
  'unsupported_by_model',
  'refused_by_provider',
  'content_filter',
  'invalid_json',
  'wrong_content_type',
  'body_too_large',
  'bad_signature',
  'key_reused',
] as const
export type Issue = (typeof issues)[number]

const providerDetails = {
  provider: z.string(),
  provider_error: z.string(),
  /** The text in which a model meant to call a tool, where its provider could not read it. */
  failed_generation: z.string().optional(),
}

/** Every error a caller can see. Amounts are USD, times seconds. Source: contract 1.7. */
export const errors = {
  invalid_request: invalid('The request is not valid.', { issue: z.enum(issues) }),
  invalid_model: invalid('A model is named <provider>/<model>, for example openai/gpt-4o.', {}),
  context_length_exceeded: invalid("The request is longer than the model's context.", {
    max_context: z.int().nullable(),
    requested: z.int().nullable(),
  }),
  max_tokens_exceeded: invalid('The output limit exceeds that of the model.', {
    max_allowed: z.int().nullable(),
    requested: z.int().nullable(),
  }),
  missing_api_key: unauthenticated(
    'No API key was sent. Send it as "Authorization: Bearer <key>".',
    {},
  ),
  invalid_api_key: unauthenticated(
    'The API key is not valid: it is wrong, malformed or deleted.',
    {},
  ),
  expired_api_key: unauthenticated('The API key has expired. Create a new one.', {}),
  insufficient_credits: unpaid('Your balance is below the minimum for this request.', {
    current_balance: z.number(),
    minimum_required: z.number(),
  }),
  payment_required: unpaid('This account requires a payment before it can be used.', {}),
  insufficient_permissions: forbidden(
    'Your API key lacks a permission that this request requires.',
    {
      required: z.array(z.string()),
      current: z.array(z.string()),
    },
  ),
  model_access_denied: forbidden('No connection available to you serves this model.', {
    model: z.string(),
  }),
  organization_required: forbidden(
    'Only members of an organization that offers this model can use it.',
    {},
  ),
  model_not_found: notFoundKind(
    'The model does not exist. GET /v1/models lists the available models.',
    {},
  ),
  resource_not_found: notFoundKind('The resource does not exist.', {}),
  rate_limit_exceeded: limited('Too many requests. Retry after the time in Retry-After.', {
    limit: z.int(),
    window: z.int(),
    retry_after: z.int(),
  }),
  tokens_per_minute_exceeded: limited(
    'Too many tokens per minute. Retry after the time in Retry-After.',
    {
      limit: z.int(),
      used: z.int(),
    },
  ),
  images_per_minute_exceeded: limited(
    'Too many images per minute. Retry after the time in Retry-After.',
    {
      limit: z.int(),
      used: z.int(),
    },
  ),
  audio_seconds_per_minute_exceeded: limited(
    'Too many seconds of sound per minute. Retry after the time in Retry-After.',
    {
      limit: z.int(),
      used: z.int(),
    },
  ),
  internal_error: kind([500], 'server_error')(
    'Internal server error. It has been logged under the request id.',
    {},
  ),
  provider_error: gateway([502, 503])('The provider returned an error.', providerDetails),
  connection_failed: gateway([502, 503])('The provider could not be reached.', {}),
  gateway_unavailable: gateway([503])(
    'The gateway cannot accept this request at the moment. Retry shortly.',
    {},
  ),
  request_timeout: kind([504], 'timeout_error')(
    'The request exceeded its time limit and was aborted.',
    {},
  ),
} as const

export type ErrorCode = keyof typeof errors
type Details<Code extends ErrorCode> = (typeof errors)[Code]['details']

/** The caller's state in the limit that has the least left. */
export interface RateLimitQuota {
  limit: number
  remaining: number
  /** When the limit next recovers, by the wall clock. */
  resetAtMs: number
}

/** Source: contract 4.7. */
export function reportQuota(
  headers: Headers,
  { limit, remaining, resetAtMs }: RateLimitQuota,
): void {
  headers.set('x-ratelimit-limit', String(limit))
  headers.set('x-ratelimit-remaining', String(remaining))
  headers.set('x-ratelimit-reset', String(Math.ceil(resetAtMs / 1000)))
}

interface Extra {
  /** A message for the caller, instead of the row's. */
  message?: string
  /** The field, query parameter or header at fault. */
  param?: string | null
  /** One of the row's statuses, where it has two. */
  status?: HttpStatus
  /** Sent as `Retry-After`, rounded up to whole seconds. */
  retryAfterSeconds?: number
  /**
   * False tells client libraries that a retry is useless or would be billed again. Defaults to false for every 4xx but
   * 429: a fault in the request or its key persists.
   */
  retryable?: boolean
  /** The limit that rejected the request, on a 429. */
  quota?: RateLimitQuota
  /** For the log, never for the caller. */
  cause?: unknown
}

/** Requires details in the constructor of each code that has them. */
type Rest<Code extends ErrorCode> = keyof Details<Code> extends never
  ? [extra?: Extra & { details?: Record<string, unknown> }]
  : [extra: Extra & { details: z.infer<z.ZodObject<Details<Code>>> }]

/** A failure with a message for the caller; thrown anywhere, rendered once. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code
  readonly status: HttpStatus
  readonly param: string | null
  readonly details: Record<string, unknown>
  readonly retryAfterSeconds: number | undefined
  readonly retryable: boolean
  readonly quota: RateLimitQuota | undefined
  /** Whether the connection closes with the answer: the rest of the request is not worth reading. */
  readonly closes: boolean = false

  constructor(code: Code, ...[extra]: Rest<Code>) {
    super(extra?.message ?? errors[code].message, { cause: extra?.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = extra?.status ?? errors[code].statuses[0]
    this.param = extra?.param ?? null
    this.details = extra?.details ?? {}
    this.retryAfterSeconds = extra?.retryAfterSeconds
    this.retryable = extra?.retryable ?? (this.status === 429 || this.status >= 500)
    this.quota = extra?.quota
  }
}

/** Creates an `invalid_request` for a field. `param` is its dotted path, null for the whole body. */
export const invalidRequest = (param: string | null, issue: Issue, message: string) =>
  new ApiError('invalid_request', { param, message, details: { issue } })

/** Creates the refusal of a field that the price of its model does not cover. */
export const unpricedField = (param: string) =>
  invalidRequest(
    param,
    'unsupported_by_model',
    `${param} is not covered by this model's price. Use your own connection (BYOK) for it.`,
  )

/** Creates a `gateway_unavailable` for infrastructure that does not answer; the cause goes to the log. */
export const unavailable = (cause?: unknown) =>
  new ApiError('gateway_unavailable', { retryAfterSeconds: 2, cause })

export interface ErrorBody {
  error: {
    type: string
    code: ErrorCode
    message: string
    param: string | null
    details: Record<string, unknown>
    request_id?: string
  }
  request_id?: string
}

/** Converts a thrown value to an `ApiError`: an unknown error is an `internal_error` with no message of its own. */
export const toApiError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown })

/** Returns an `ApiError`; rethrows any other error. */
export function expectApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}

/** Returns the body of an error. Only `internal_error` carries the request id, in both its places. */
export function toErrorBody(error: ApiError, requestId: string): ErrorBody {
  const { code, message, param, details } = error
  const body = { type: errors[code].type, code, message, param, details }
  if (code !== 'internal_error') return { error: body }
  return { error: { ...body, request_id: requestId }, request_id: requestId }
}

/** Returns the headers of an error. Source: contract 4.7. */
export function toErrorHeaders(error: ApiError): Record<string, string> {
  const headers: Record<string, string> = {}
  if (error.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)))
    if (error.status === 429) {
      headers['retry-after-ms'] = String(Math.ceil(error.retryAfterSeconds * 1000))
    }
  }
  if (!error.retryable) headers['x-should-retry'] = 'false'
  if (error.closes) headers['connection'] = 'close'
  if (error.status === 401) headers['www-authenticate'] = 'Bearer'
  return headers
}

import createClient from 'openapi-fetch'
import type { components, paths } from '@tollgate/client/schema'

interface Problem {
  code: string
  message: string
  /** The invalid field as a dotted path; null when no field is concerned. */
  param: string | null
}

/** The parts of an error response outside of its body. */
interface ProblemHeaders {
  /** The time to wait before a retry; null when the service gives none. */
  retryAfterMs: number | null
  /** The id of the request, under which it may have a log. */
  requestId: string | null
}

const noHeaders: ProblemHeaders = { retryAfterMs: null, requestId: null }

/** An error response of the service. Source: contract 1.7. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly param: string | null
  /** The time to wait before a retry; null when the service gives none. */
  readonly retryAfterMs: number | null
  readonly requestId: string | null

  constructor(
    status: number,
    { code, message, param }: Problem,
    { retryAfterMs, requestId }: ProblemHeaders = noHeaders,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.retryAfterMs = retryAfterMs
    this.requestId = requestId
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Reads the error from a response body, including bodies written by an intermediary. */
function problemOf(status: number, body: unknown): Problem {
  const fields = isObject(body) ? body : {}
  const error = isObject(fields['error']) ? fields['error'] : fields
  const textOf = (name: string) => (typeof error[name] === 'string' ? error[name] : undefined)
  return {
    code: textOf('code') ?? 'unknown',
    message:
      textOf('message') ?? `The service responded with status ${status}. Try again in a moment.`,
    param: textOf('param') ?? null,
  }
}

const secondMs = 1000

function headersOf({ headers }: Response): ProblemHeaders {
  const seconds = Number(headers.get('retry-after'))
  const retryAfterMs = seconds > 0 ? seconds * secondMs : null
  return { retryAfterMs, requestId: headers.get('x-request-id') }
}

/** Emits an event when the session may have ended, wherever that is noticed. */
export const sessionEnd = new EventTarget()

/** Whether a response is one to a request without a session, to which the operator API does not exist. */
const mayLackSession = ({ status, url }: Response) =>
  status === 401 || (status === 404 && URL.parse(url)?.pathname.startsWith('/api/admin/') === true)

const requestTimeoutMs = 30_000

/**
 * Sends a request and returns a response whose body the caller reads as it streams. Rejects with
 * `ApiError` for every status other than success. The timeout covers the whole body.
 */
export async function openAnswer(
  input: RequestInfo | URL,
  init: RequestInit = {},
  limitMs = requestTimeoutMs,
): Promise<Response> {
  const cancellation = input instanceof Request ? input.signal : init.signal
  const deadline = AbortSignal.timeout(limitMs)
  const signal = cancellation ? AbortSignal.any([cancellation, deadline]) : deadline
  const response = await fetch(input, { ...init, signal }).catch((cause: unknown) => {
    const message = 'The service cannot be reached. Check your connection and try again.'
    throw cancellation?.aborted
      ? cause
      : new ApiError(0, { code: 'unreachable', message, param: null })
  })
  if (response.ok) return response
  const body: unknown = await response.json().catch(() => undefined)
  if (mayLackSession(response)) sessionEnd.dispatchEvent(new Event('end'))
  throw new ApiError(response.status, problemOf(response.status, body), headersOf(response))
}

/**
 * Sends a request and buffers the whole response body. Many callers ignore the body, and the browser keeps
 * the connection of an unread response open: there are six for the whole page.
 */
export async function checkedFetch(input: RequestInfo | URL, init?: RequestInit) {
  const response = await openAnswer(input, init)
  const { status, headers } = response
  const body = await response.arrayBuffer()
  return new Response(body.byteLength > 0 ? body : null, { status, headers })
}

/**
 * The account API, and the operator API below `/api/admin`, which responds with 404 to every other account.
 * Every status other than success rejects with `ApiError`.
 */
export const api = createClient<paths>({ fetch: (request) => checkedFetch(request) })

/** The objects in requests and responses, by their names in the OpenAPI description. */
export type Schemas = components['schemas']

/** Returns the body of a response. */
export async function bodyOf<Body>(response: Promise<{ data?: Body }>): Promise<Body> {
  const { data } = await response
  if (data === undefined) throw new Error('The response has no body.')
  return data
}

import { hc } from 'hono/client'
import type { AccountApi } from '../../server/src/server/app/account-endpoints'
import type { OperatorApi } from '../../server/src/server/app/operator-endpoints'

interface Problem {
  code: string
  message: string
  /** The invalid field as a dotted path; null when no field is concerned. */
  param: string | null
}

/** An error response of the service. Source: contract 1.7. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly param: string | null
  /** The time to wait before a retry; null when the service gives none. */
  readonly retryAfterMs: number | null

  constructor(
    status: number,
    { code, message, param }: Problem,
    retryAfterMs: number | null = null,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.retryAfterMs = retryAfterMs
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Reads the error from a response body, including bodies written by an intermediary. */
function problemOf(status: number, body: unknown): Problem {
  const answered = isObject(body) ? body : {}
  const told = isObject(answered['error']) ? answered['error'] : answered
  const textOf = (name: string) => (typeof told[name] === 'string' ? told[name] : undefined)
  return {
    code: textOf('code') ?? 'unknown',
    message:
      textOf('message') ?? `The service responded with status ${status}. Try again in a moment.`,
    param: textOf('param') ?? null,
  }
}

const secondMs = 1000

function retryAfterOf({ headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after'))
  return seconds > 0 ? seconds * secondMs : null
}

/** Emits an event when the session has ended, wherever that is noticed. */
export const sessionEnd = new EventTarget()

const patienceMs = 30_000

/**
 * Sends a request and returns a response whose body the caller reads as it streams. Rejects with
 * `ApiError` for every status other than success. The timeout covers the whole body.
 */
export async function openAnswer(
  input: RequestInfo | URL,
  init: RequestInit = {},
  limitMs = patienceMs,
): Promise<Response> {
  const deadline = AbortSignal.timeout(limitMs)
  const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline
  const response = await fetch(input, { ...init, signal }).catch((cause: unknown) => {
    const message = 'The service cannot be reached. Check your connection and try again.'
    throw init.signal?.aborted
      ? cause
      : new ApiError(0, { code: 'unreachable', message, param: null })
  })
  if (response.ok) return response
  const body: unknown = await response.json().catch(() => undefined)
  if (response.status === 401) sessionEnd.dispatchEvent(new Event('end'))
  throw new ApiError(response.status, problemOf(response.status, body), retryAfterOf(response))
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

const checked = {
  fetch: (input: RequestInfo | URL, init?: RequestInit) => checkedFetch(input, init),
}

/** The account endpoints, typed by the server's routes. */
export const { api } = hc<AccountApi>('/', checked)

/** The operator endpoints, below `/api/admin`; they respond 404 to every other account. */
export const {
  api: { admin },
} = hc<OperatorApi>('/', checked)

/** Builds a JSON request body, for the second argument of a call. */
export const json = (body: object) => ({
  init: { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
})

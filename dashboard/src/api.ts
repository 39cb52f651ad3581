import { hc } from 'hono/client'
import type { AccountApi } from '../../server/src/app/account-endpoints'
import type { OperatorApi } from '../../server/src/app/operator-endpoints'

interface Problem {
  code: string
  message: string
  /** The field that is wrong, as a dotted path; null where it is none. */
  param: string | null
}

/** What the service refuses. Source: contract 1.7. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly param: string | null
  /** When it may be asked again; null where the service does not say. */
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

/** A problem as the body of an answer tells it, also where something in between answered. */
function problemOf(status: number, body: unknown): Problem {
  const answered = isObject(body) ? body : {}
  const told = isObject(answered['error']) ? answered['error'] : answered
  const textOf = (name: string) => (typeof told[name] === 'string' ? told[name] : undefined)
  return {
    code: textOf('code') ?? 'unknown',
    message: textOf('message') ?? `The service answered ${status}. Try again in a moment.`,
    param: textOf('param') ?? null,
  }
}

const secondMs = 1000

function retryAfterOf({ headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after'))
  return seconds > 0 ? seconds * secondMs : null
}

/** Told when a session is over, wherever that is noticed. */
export const sessionEnd = new EventTarget()

const patienceMs = 30_000

/**
 * An answer that its caller reads to the end, as it comes. Rejects with `ApiError` for whatever is no
 * success. All of it has to be there in time.
 */
export async function openAnswer(
  input: RequestInfo | URL,
  init: RequestInit = {},
  limitMs = patienceMs,
): Promise<Response> {
  const deadline = AbortSignal.timeout(limitMs)
  const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline
  const response = await fetch(input, { ...init, signal }).catch((cause: unknown) => {
    const message = 'The service cannot be reached. Check the connection, then try again.'
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
 * The same with all of its body there. Many answers say nothing that is needed, and the browser keeps
 * the connection of one that nobody reads: of six for the whole page.
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

/** The account's endpoints, typed by the routes of the server. */
export const { api } = hc<AccountApi>('/', checked)

/** The operator's endpoints, below `/api/admin`: absent for everybody else. */
export const {
  api: { admin },
} = hc<OperatorApi>('/', checked)

/** The body of a request, for the second argument of a call. */
export const json = (body: object) => ({
  init: { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
})

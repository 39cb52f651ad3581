import { createHash } from 'node:crypto'
import { type Attempt, type Behaviour, type Json, capOf } from './call'
import { type CatalogueModel, defaultCatalogue } from './catalogue'
import type { Closer } from './connection'
import { parseForm } from './forms'
import type { Reply } from './reply'
import type { RawRequest } from './request-parser'
import { createHold, type Hold } from '../../../server/testing/hold'

/** One request as the provider saw it. Times are milliseconds since 1970. */
export interface LoggedRequest {
  method: string
  path: string
  headers: Record<string, string>
  /** The parsed JSON body, null when there was none. */
  body: unknown
  bodySha256: string
  model: string | null
  /** Output limit of the request. */
  cap: number | null
  attempt: string
  receivedAt: number
  connectedAt: number
  /** End of the connection the request came on, null while it is open. */
  closedAt: number | null
  closedBy: Closer | null
  /** 0 when nothing was answered. */
  status: number
  /** Writes of body, an event each in a plain stream. */
  chunksSent: number
}

/** One request and the answer it is getting. */
export interface Exchange {
  request: RawRequest
  reply: Reply
  /** The target without its query. */
  path: string
  /** The parsed body, `{}` when it is no JSON object. */
  body: Json
}

/** What a provider remembers. */
export interface Log {
  /** Requests are read when asked for: a bench makes many and looks at none. */
  requests: (() => LoggedRequest)[]
  attempts: Attempt[]
  recordings: Map<string, Behaviour>
  catalogue: CatalogueModel[]
  /** When each model was first called, in ms of the monotonic clock. */
  firstCalls: Map<string, number>
  counter: number
  /** The answers that wait for the test. */
  held: Hold
}

export const emptyLog = (): Log => ({
  requests: [],
  attempts: [],
  recordings: new Map(),
  catalogue: defaultCatalogue,
  firstCalls: new Map(),
  counter: 0,
  held: createHold(),
})

/** JSON, a form or null, never an error: a broken body is something a test may look at too. */
export function parseBody(request: RawRequest): unknown {
  const { body: bytes } = request
  if (bytes.length === 0) return null
  const form = parseForm(request)
  if (form) return form
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}

/** Returns what a function returns, which is called once, and not before it is needed. */
function once<Value>(read: () => Value): () => Value {
  let found: { value: Value } | undefined
  return () => (found ??= { value: read() }).value
}

/** Notes a request; returns the id of its attempt, which is the caller's or the next number. */
export function recordRequest(log: Log, { request, reply, path, body }: Exchange): string {
  const { connection } = reply
  const attempt = request.headers['x-tollgate-attempt'] ?? `attempt-${++log.counter}`
  const receivedAt = Date.now()
  // Tests that wait for a number of requests look at all of them, again and again.
  const parsed = once(() => parseBody(request))
  const digest = once(() => createHash('sha256').update(request.body).digest('hex'))
  log.requests.push(() => ({
    method: request.method,
    path,
    headers: request.headers,
    get body() {
      return parsed()
    },
    get bodySha256() {
      return digest()
    },
    model: typeof body['model'] === 'string' ? body['model'] : null,
    cap: capOf(body),
    attempt,
    receivedAt,
    connectedAt: connection.connectedAt,
    closedAt: connection.closedAt,
    closedBy: connection.closedBy,
    status: reply.status,
    chunksSent: reply.chunksSent,
  }))
  return attempt
}

/** Forgets requests, bills and the age of models. */
export function clearLog(log: Log): void {
  log.requests = []
  log.attempts = []
  log.firstCalls.clear()
}

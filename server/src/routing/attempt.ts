import type { Candidate } from './candidate'
import type { Deadline } from './deadline'
import { ConnectionFailed, toConnectionFailed } from '../egress/connection-failed'
import type { Egress } from '../egress/egress'
import { ApiError } from '../errors'
import type { Adapter } from '../providers/adapter'
import { secretHeader, type Credentials, type Proof } from '../providers/credentials'
import { addressOf, type Line } from '../providers/line'
import { isFailure } from '../providers/event'
import { failure, nonsense, toCallerError, type Source } from '../providers/upstream-error'
import * as sandbox from '../providers/sandbox'
import { ClientGone } from '../wire/chunk-stream'
import { hopsHeader } from '../wire/hops'
import { isObject, type JsonObject } from '../wire/json-body'
import { EventTooLong } from '../wire/sse'

/** One operation of the OpenAI format, and its path there. */
const paths = {
  chat: '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
  responses: '/responses',
} as const
export type Operation = keyof typeof paths

/** What a provider is sent, without its address and credential. */
export interface Sent {
  body: JsonObject
  /** Where it differs from the operation's own; a path in the provider's options comes before it. */
  path?: string
  /** The whole address, where it is no path behind the connection's. */
  url?: string | undefined
  headers?: Readonly<Record<string, string>>
  /** Headers of the caller's that belong to a body which is passed on. */
  forwarded?: Readonly<Record<string, string>>
  /** Who wrote it and reads its answer; undefined for what is relayed. */
  adapter?: Adapter | undefined
  /** How its refusals are read, where they are not those of an OpenAI-alike; else the adapter's. */
  failure?: Adapter['failure'] | undefined
  /** The same request with the history's signatures replaced, for a provider that refuses them. */
  unsigned?: (() => Sent) | undefined
}

/** One try of one candidate. */
export interface Attempt extends Sent {
  candidate: Candidate
  operation: Operation
  deadline: Deadline
  source: Source
  egress: Egress
  credentials: Credentials
  /** How many Tollgates had sent the request on before it came here. */
  hops: number
  /** How much of a streamed answer is paid for; undefined where it may be as long as it likes. */
  allowance?: Allowance | undefined
  /** Told of what breaks a stream that has been opened. */
  onBroken?: (thrown: unknown) => void
}

/** The tokens of output that a running stream may have. */
export interface Allowance {
  readonly tokens: number
  /** Makes it more. False, or a promise of it, where no more can be had. Never rejects. */
  extend: () => boolean | Promise<boolean>
}

/** An attempt that failed before anything went to the caller. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed'
  readonly error: ApiError
  /** Nothing can have been billed, and another candidate may do better. Source: api.md 21.1. */
  readonly mayTryNext: boolean

  constructor(error: ApiError, mayTryNext: boolean) {
    super(error.message, { cause: error })
    this.error = error
    this.mayTryNext = mayTryNext
  }
}

const longestErrorBody = 64 * 1024
const longestBody = 20 * 1024 * 1024
const othersMayDoBetter = new Set([401, 403, 404, 429])

/** Sends an attempt and waits for the head of a good answer. Throws `AttemptFailed`. */
export async function send(attempt: Attempt): Promise<Response> {
  const { source } = attempt
  const response = await transmit(attempt)
  if (response.ok && response.body) return response
  const text = await readText(response, longestErrorBody, source).catch(() => '')
  const { status } = response
  if (status < 400) {
    throw new AttemptFailed(nonsense(source.provider, `a status of ${status}`), false)
  }
  const retryAfter = response.headers.get('retry-after')
  const refusal = { status, body: parsed(text), retryAfter }
  const { adapter, unsigned } = attempt
  if (unsigned && adapter?.refusesSignatures?.(refusal)) {
    return send({ ...attempt, ...unsigned(), unsigned: undefined })
  }
  const tell = attempt.failure ?? adapter?.failure ?? toCallerError
  const error = tell(refusal, source)
  throw new AttemptFailed(error, othersMayDoBetter.has(meantBy(error) ?? status) || status >= 500)
}

/** The status that an error stands for: Google says 400 of a bad key, where others say 401. */
function meantBy({ cause }: ApiError): number | undefined {
  const meant = isObject(cause) ? cause['upstreamStatus'] : undefined
  return typeof meant === 'number' ? meant : undefined
}

/** Sends it, once more with a new proof where the first was refused. Throws `AttemptFailed`. */
async function transmit(attempt: Attempt): Promise<Response> {
  const { candidate, source, credentials } = attempt
  let proof: Proof | undefined
  try {
    proof = credentials.proofOf(candidate)
    const response = await post(attempt, proof)
    if (response.status !== 401 || !proof?.refused()) return response
    response.body?.cancel().catch(() => undefined)
    return await post(attempt, proof)
  } catch (thrown) {
    if (thrown instanceof AttemptFailed) throw thrown
    // Only what shows whose request it is fails in words of its own.
    throw thrown instanceof ApiError && thrown.code === 'provider_error'
      ? new AttemptFailed(thrown, true)
      : broken(thrown, source)
  }
}

function post(attempt: Attempt, proof: Proof | undefined): Promise<Response> {
  const { candidate, operation, body, deadline, egress } = attempt
  const { provider } = candidate
  const { signal } = deadline
  if (provider.dialect === 'sandbox' && operation !== 'responses') {
    return Promise.resolve(sandbox.answer({ path: paths[operation], body, signal }))
  }
  const path = provider.options.paths[operation] ?? attempt.path ?? paths[operation]
  const url = attempt.url ?? `${addressOf(candidate)}${path}`
  const headers = {
    ...attempt.headers,
    ...headersOf(candidate, url),
    ...attempt.forwarded,
    [hopsHeader]: String(attempt.hops + 1),
  }
  const { owner } = candidate.connection
  const call = { url, headers, body: JSON.stringify(body), method: 'POST' as const, signal, owner }
  if (!proof) return egress.send(call)
  return provenBy(proof, call, attempt.source).then((proven) =>
    egress.send({ ...call, headers: proven }),
  )
}

/** Whatever fails here was not sent to the provider. */
async function provenBy(
  proof: Proof,
  request: Parameters<Proof['headers']>[0],
  source: Source,
): Promise<Record<string, string>> {
  try {
    return await proof.headers(request)
  } catch (thrown) {
    throw new AttemptFailed(toBroken(thrown, source), true)
  }
}

/** Nothing of the caller's headers goes to a provider. */
export const headersOf = (line: Line, url: string): Record<string, string> => ({
  'content-type': 'application/json',
  // Compression would be undone here, and costs more than loopback or a data centre's network.
  'accept-encoding': 'identity',
  'user-agent': 'tollgate',
  ...line.provider.options.headers,
  ...secretHeader(line, url),
})

/** What broke an exchange, in words for the caller. */
export function toBroken(thrown: unknown, source: Source): ApiError {
  // Before all else: its code is none of a socket's.
  if (thrown instanceof ApiError) return thrown
  const failed = toConnectionFailed(thrown)
  if (failed instanceof EventTooLong) return nonsense(source.provider, 'an event beyond 1 MB')
  if (failed instanceof ConnectionFailed) {
    return new ApiError('connection_failed', {
      message: failed.connected
        ? `The connection to ${source.provider} was lost.`
        : `${source.provider} could not be reached.`,
      // What was sent may have been billed.
      retryable: !failed.connected,
      cause: failed,
    })
  }
  return nonsense(source.provider, 'an unreadable answer', failed)
}

/** A failed attempt; a caller who has gone is no failure of the provider's. */
export function broken(thrown: unknown, source: Source): Error {
  if (thrown instanceof ClientGone) return thrown
  const isUnsent = thrown instanceof ConnectionFailed && !thrown.connected
  return new AttemptFailed(toBroken(thrown, source), isUnsent)
}

/** A whole body of at most `most` bytes as text. Throws when there is more, or when it breaks off. */
function readText(response: Response, most: number, source: Source): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  const isPlain = !response.headers.get('content-encoding')
  return isPlain && length <= most ? response.text() : readPieces(response, most, source)
}

async function readPieces(response: Response, most: number, source: Source): Promise<string> {
  if (!response.body) return ''
  const pieces: Uint8Array[] = []
  let size = 0
  // Leaving the loop cancels the rest.
  for await (const piece of response.body) {
    size += piece.byteLength
    if (size > most) throw nonsense(source.provider, 'an answer that is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A whole answer: parsed JSON, and what its head said. */
export interface Exchanged {
  body: unknown
  headers: Headers
}

/** Sends an attempt and reads its whole answer as JSON. Throws `AttemptFailed`. */
export async function exchange(attempt: Attempt): Promise<Exchanged> {
  const response = await send(attempt)
  const type = response.headers.get('content-type') ?? ''
  if (type !== '' && !/\bjson\b/i.test(type)) {
    response.body?.cancel().catch(() => undefined)
    const error = nonsense(attempt.source.provider, `an answer of type "${type.slice(0, 80)}"`)
    throw new AttemptFailed(error, false)
  }
  try {
    const text = await readText(response, longestBody, attempt.source)
    const body: unknown = JSON.parse(text)
    if (isObject(body) && isFailure(body)) throw refusedInside(failure(body, attempt.source))
    return { body, headers: response.headers }
  } catch (thrown) {
    throw thrown instanceof AttemptFailed ? thrown : broken(thrown, attempt.source)
  }
}

/** An error in place of an answer whose status was good: who was only busy did nothing. */
export const refusedInside = (error: ApiError): AttemptFailed =>
  new AttemptFailed(error, error.code === 'provider_error' && error.status === 503)

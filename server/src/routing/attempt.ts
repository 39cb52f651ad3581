import type { Candidate } from './candidate'
import type { Deadline } from './deadline'
import { ConnectionFailed, toConnectionFailed, type Egress } from '../egress/egress'
import { ApiError } from '../errors'
import type { Adapter } from '../providers/adapter'
import { adapterOf } from '../providers/adapters'
import { readCredential, withCredential } from '../providers/bedrock/credentials'
import { nonsense, toCallerError, type Source } from '../providers/upstream-error'
import * as sandbox from '../providers/sandbox'
import { ClientGone } from '../wire/chunk-stream'
import { isObject, type JsonObject } from '../wire/json-body'
import { EventTooLong } from '../wire/sse'

/** One operation of the OpenAI format, and its path there. */
const paths = {
  chat: '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
} as const
export type Operation = keyof typeof paths

/** What a provider is sent, without its address and credential. */
export interface Sent {
  body: JsonObject
  /** Where it differs from the operation's own; a path in the provider's options comes before it. */
  path?: string
  headers?: Readonly<Record<string, string>>
  /** How a stream of it is cut into events; `sse` unless said otherwise. */
  framing?: Adapter['framing']
}

/** One try of one candidate. */
export interface Attempt extends Sent {
  candidate: Candidate
  operation: Operation
  deadline: Deadline
  source: Source
  egress: Egress
  /** How much of a streamed answer is paid for; undefined where it may be as long as it likes. */
  allowance?: Allowance | undefined
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
  let response: Response
  try {
    response = await transmit(attempt)
  } catch (thrown) {
    throw broken(thrown, source)
  }
  if (response.ok && response.body) return response
  const text = await readText(response, longestErrorBody, source).catch(() => '')
  const { status } = response
  if (status < 400) {
    throw new AttemptFailed(nonsense(source.provider, `a status of ${status}`), false)
  }
  const retryAfter = response.headers.get('retry-after')
  const tell = adapterOf(attempt.candidate.provider)?.failure ?? toCallerError
  const error = tell({ status, body: parsed(text), retryAfter }, source)
  throw new AttemptFailed(error, othersMayDoBetter.has(meantBy(error) ?? status) || status >= 500)
}

/** The status that an error stands for: Google says 400 of a bad key, where others say 401. */
function meantBy({ cause }: ApiError): number | undefined {
  const meant = isObject(cause) ? cause['upstreamStatus'] : undefined
  return typeof meant === 'number' ? meant : undefined
}

async function transmit(attempt: Attempt): Promise<Response> {
  const { candidate, operation, body, deadline, egress } = attempt
  const { provider, connection } = candidate
  const path = provider.options.paths[operation] ?? attempt.path ?? paths[operation]
  const { signal } = deadline
  if (provider.dialect === 'sandbox') {
    return sandbox.answer({ path: paths[operation], body, signal })
  }
  const unsigned = {
    url: `${connection.baseUrl ?? provider.baseUrl}${path}`,
    headers: { ...attempt.headers, ...headersOf(candidate) },
    body: JSON.stringify(body),
  }
  const headers =
    provider.dialect === 'bedrock'
      ? await signedHeaders(unsigned, connection.secret)
      : unsigned.headers
  return egress.send({ ...unsigned, method: 'POST', headers, signal })
}

/** A signature covers the other headers and the body, so it comes last. */
function signedHeaders(
  request: { url: string; headers: Record<string, string>; body: string },
  secret: string | null,
): Promise<Record<string, string>> {
  const { authorization: _bearer, ...headers } = request.headers
  return secret
    ? withCredential({ ...request, headers }, readCredential(secret), new Date())
    : Promise.resolve(headers)
}

/** Nothing of the caller's headers goes to a provider. */
export function headersOf({ provider, connection }: Omit<Candidate, 'model'>) {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Compression would be undone here, and costs more than loopback or a data centre's network.
    'accept-encoding': 'identity',
    'user-agent': 'tollgate',
    ...provider.options.headers,
  }
  if (connection.secret) {
    const isBearer = provider.authHeader === 'authorization'
    headers[provider.authHeader] = isBearer ? `Bearer ${connection.secret}` : connection.secret
  }
  return headers
}

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
async function readText(response: Response, most: number, source: Source): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  const isPlain = !response.headers.get('content-encoding')
  if (isPlain && length <= most) return response.text()
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

/** Sends an attempt and reads its whole answer as JSON. Throws `AttemptFailed`. */
export async function exchange(attempt: Attempt): Promise<unknown> {
  const response = await send(attempt)
  const type = response.headers.get('content-type') ?? ''
  if (type !== '' && !/\bjson\b/i.test(type)) {
    response.body?.cancel().catch(() => undefined)
    const error = nonsense(attempt.source.provider, `an answer of type "${type.slice(0, 80)}"`)
    throw new AttemptFailed(error, false)
  }
  try {
    const text = await readText(response, longestBody, attempt.source)
    return JSON.parse(text) as unknown
  } catch (thrown) {
    throw broken(thrown, attempt.source)
  }
}

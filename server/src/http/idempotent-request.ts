import type { StreamCopy } from './event-stream'
import { renderError, streamOf, toRendered } from './render'
import type { ErrorFormat } from '../protocols/dialect'
import { maxAnswerBytes, type Claim, type Claims } from '../idempotency/claims'
import { hashRequest, readKey } from '../idempotency/key'
import type { StoredAnswer } from '../idempotency/store'
import { ClientDisconnected } from '../wire/chunk-stream'

interface Options {
  claims: Claims
  /** The header's value. */
  key: string
  path: string
  requestId: string
  errorFormat: ErrorFormat
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  /** The longest wait of a repeat for the first request. */
  timeoutMs: number
}

/**
 * One request with an `Idempotency-Key`: it claims the key; its answer is kept if its side effect had begun, else
 * the key is free again. Source: contract 4.9.
 */
export class IdempotentRequest {
  readonly #options: Options
  #claim: Claim | undefined
  #isDispatched = false
  #ending: Promise<void> | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Claims the key. Resolves with undefined when this request is the one to run, else with the answer of the
   * first. Rejects with `invalid_request`, `request_timeout` and `gateway_unavailable`.
   */
  readonly claim = async (userId: string, body: object): Promise<StoredAnswer | undefined> => {
    const { claims, path, signal, timeoutMs } = this.#options
    const key = readKey(this.#options.key)
    const endsAtMs = performance.now() + timeoutMs
    const claimKey = { userId, key, hash: hashRequest(path, body) }
    const result = await claims.take(claimKey, { endsAtMs, signal })
    if ('stored' in result) return result.stored
    this.#claim = result.claim
    return undefined
  }

  /** Marks the start of a side effect that must not happen twice. */
  readonly onDispatched = (): void => {
    this.#isDispatched = true
  }

  /** Stores a whole answer before it goes out. */
  async store(response: Response): Promise<Response> {
    const { status, headers } = response
    const body = new Uint8Array(await response.arrayBuffer())
    await this.#end({ status, headers, body })
    return new Response(body, { status, headers })
  }

  /** Handles a failure before any byte went out. Never rejects. */
  async failed(thrown: unknown): Promise<void> {
    if (!this.#claim) return
    if (thrown instanceof ClientDisconnected) return this.#giveUp()
    const { requestId, errorFormat } = this.#options
    await this.store(renderError(toRendered(thrown), requestId, errorFormat))
  }

  /** Collects a stream as it goes out. A client that disconnects before its end leaves nothing stored. */
  copy(headers: Headers): StreamCopy {
    const { signal } = this.#options
    let pieces: Uint8Array[] = []
    let size = 0
    const add = (bytes: Uint8Array) => {
      size += bytes.byteLength
      if (size <= maxAnswerBytes) pieces.push(bytes)
      else pieces = []
    }
    const drop = () => void this.#giveUp()
    // The client may have disconnected before the listener was added.
    if (signal.aborted) drop()
    else signal.addEventListener('abort', drop, { once: true })
    return {
      add,
      drop,
      end: (bytes) => {
        add(bytes)
        if (size > maxAnswerBytes) return this.#giveUp()
        return this.#end({ status: 200, headers, body: new Uint8Array(Buffer.concat(pieces)) })
      },
    }
  }

  #giveUp(): Promise<void> {
    this.#ending ??= this.#claim?.giveUp() ?? Promise.resolve()
    return this.#ending
  }

  #end(answer: Omit<StoredAnswer, 'requestId' | 'headers'> & { headers: Headers }): Promise<void> {
    if (!this.#isDispatched) return this.#giveUp()
    const { requestId } = this.#options
    const headers = Object.fromEntries(answer.headers)
    this.#ending ??= this.#claim?.keep({ ...answer, headers, requestId }) ?? Promise.resolve()
    return this.#ending
  }
}

/** Returns a stored answer, for a repeat. */
export function replayAnswer({ requestId, status, headers, body }: StoredAnswer): Response {
  const isStream = headers['content-type']?.startsWith('text/event-stream') ?? false
  return new Response(isStream ? streamOf(body) : body, {
    status,
    headers: {
      ...headers,
      // The same key gets the same answer.
      ...(status >= 400 && { 'x-should-retry': 'false' }),
      'x-request-id': requestId,
      'x-idempotent-replay': 'true',
    },
  })
}

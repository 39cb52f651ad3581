import { z } from 'zod'
import { signClaim, type ServiceAccount } from './service-account'
import { ApiError } from '../../errors'
import { invalidAnswer, toCallerError, type ErrorSource } from '../upstream-error'
import { parseErrorBody } from '../error-body'

/** The network and the clock of a token source; `egress` provides them. */
export interface TokenPorts {
  send: (call: {
    url: string
    method: 'POST'
    headers: Record<string, string>
    body: string
    signal: AbortSignal
  }) => Promise<{ status: number; text: () => Promise<string> }>
  /** Milliseconds since 1970. */
  now: () => number
  /** Returns a signal that aborts a token request that takes too long. */
  deadline: () => AbortSignal
}

/** Renews a token this long before it ends. */
const renewMs = 5 * 60_000
/** A token that ends sooner may end on its way. */
const minLifetimeMs = 30_000
/** After a failed renewal the old token serves, and no renewal starts for this long. */
const pauseMs = 10_000

const Answer = z.looseObject({ access_token: z.string().min(1), expires_in: z.number().min(1) })

interface Token {
  value: string
  endsAtMs: number
}

/**
 * Access tokens of one service account. One request at a time fetches a token, however many callers wait,
 * and the token is kept until shortly before its end.
 */
export class AccessTokens {
  readonly #account: ServiceAccount
  readonly #outside: TokenPorts
  readonly #source: ErrorSource
  #token: Token | undefined
  #pendingToken: Promise<Token> | undefined
  #pausedUntilMs = -Infinity

  constructor(account: ServiceAccount, outside: TokenPorts, source: ErrorSource) {
    this.#account = account
    this.#outside = outside
    this.#source = source
  }

  /**
   * A token that is good for 30 seconds at the least. Throws `provider_error` when Google refuses the
   * account or does not answer in time, and whatever `send` throws.
   */
  async get(): Promise<string> {
    const nowMs = this.#outside.now()
    const remainingMs = (this.#token?.endsAtMs ?? -Infinity) - nowMs
    if (this.#token && remainingMs > renewMs) return this.#token.value
    if (!this.#token || remainingMs <= minLifetimeMs) return (await this.#renew()).value
    // The old token is still good: callers need not fail with the renewal.
    if (nowMs < this.#pausedUntilMs) return this.#token.value
    const old = this.#token.value
    return this.#renew().then(
      ({ value }) => value,
      () => old,
    )
  }

  /** Drops a token that was refused before its end, unless a newer one is there already. */
  invalidate(value: string): void {
    if (this.#token?.value === value) this.#token = undefined
  }

  #renew(): Promise<Token> {
    this.#pendingToken ??= this.#requestToken()
      .then(
        (token) => (this.#token = token),
        (thrown: unknown) => {
          this.#pausedUntilMs = this.#outside.now() + pauseMs
          throw thrown
        },
      )
      .finally(() => (this.#pendingToken = undefined))
    return this.#pendingToken
  }

  async #requestToken(): Promise<Token> {
    const { now, send, deadline } = this.#outside
    const requestedAtMs = now()
    const signal = deadline()
    const late = Promise.withResolvers<never>()
    const onAbort = () => late.reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      const body = new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: signClaim(this.#account, requestedAtMs),
      })
      const answer = send({
        url: this.#account.tokenUrl,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: body.toString(),
        signal,
      }).then(async (response) => ({ status: response.status, text: await response.text() }))
      const { status, text } = await Promise.race([answer, late.promise])
      return this.#read(status, text, requestedAtMs)
    } catch (thrown) {
      throw signal.aborted ? tooLate(thrown) : thrown
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  #read(status: number, text: string, requestedAtMs: number): Token {
    const body = parseErrorBody(text)
    // A refused claim is a bad credential, whatever the status.
    if (status >= 400 && status < 500 && status !== 429) {
      throw toCallerError({ status: 401, body }, this.#source)
    }
    if (status !== 200) throw toCallerError({ status, body }, this.#source)
    const answer = Answer.safeParse(body)
    if (!answer.success) throw invalidAnswer(this.#source.provider, 'no access token')
    const { access_token: value, expires_in: seconds } = answer.data
    return { value, endsAtMs: requestedAtMs + seconds * 1000 }
  }
}

const tooLate = (cause: unknown) => new ApiError('request_timeout', { cause })

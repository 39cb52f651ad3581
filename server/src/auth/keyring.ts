import { LRUCache } from 'lru-cache'
import { hashOf, isWellFormed } from './api-key'
import type { Principal } from './principal'
import { ApiError, unavailable } from '../errors'

/** Looks one key up by its hash; undefined where there is none or its account is suspended. */
export type LookUp = (hash: string) => Promise<Principal | undefined>

interface Entry {
  principal: Principal | undefined
  fetchedAtMs: number
  /** After this the entry is renewed in the background, and still served. */
  renewAtMs: number
  /** When a lookup last failed; for a moment after that nobody waits for another one. */
  failedAtMs: number
}

interface KeyringOptions {
  lookUp: LookUp
  /** Monotonic milliseconds. */
  now?: () => number
  random?: () => number
}

const capacity = 100_000
const renewAfterMs = 30_000
const jitter = 0.2
const negativeMs = 5000
/** A revocation holds after this long even when no notification arrives. */
const trustedMs = 60_000
/** How long a key is still good while the database does not answer. */
const staleOnErrorMs = 300_000
const askAgainMs = 1000

/**
 * Keys, looked up from memory. One lookup a key at a time; a lookup that fails serves what was known,
 * up to 5 minutes, and is `gateway_unavailable` after that: an outage never makes a key invalid.
 */
export class Keyring {
  readonly #lookUp: LookUp
  readonly #now: () => number
  readonly #random: () => number
  readonly #entries = new LRUCache<string, Entry>({ max: capacity })
  readonly #pending = new Map<string, Promise<Entry>>()
  #distrustedBeforeMs = -Infinity

  constructor({ lookUp, now = () => performance.now(), random = Math.random }: KeyringOptions) {
    this.#lookUp = lookUp
    this.#now = now
    this.#random = random
  }

  /**
   * The principal of an `Authorization` header. A promise only when the database is asked. Throws
   * or rejects with `missing_api_key`, `invalid_api_key`, `expired_api_key`, `gateway_unavailable`, and
   * with what `onUnknown` throws, which is called before a key that nobody is known by is looked up.
   */
  authenticate(
    authorization: string | null,
    onUnknown: () => void = () => undefined,
  ): Principal | Promise<Principal> {
    const key = bearer(authorization)
    if (!isWellFormed(key)) throw new ApiError('invalid_api_key')
    const hash = hashOf(key)
    const entry = this.#entries.get(hash)
    if (entry && this.#isSpared(entry)) return usable(entry.principal)
    if (!entry || !this.#isTrusted(entry)) {
      if (!entry?.principal && !this.#pending.has(hash)) onUnknown()
      return this.#fetch(hash).then((fetched) => usable(fetched.principal))
    }
    if (this.#now() > entry.renewAtMs) this.#fetch(hash).catch(() => undefined)
    return usable(entry.principal)
  }

  /** A key was changed or deleted. */
  forgetKey(hash: string): void {
    this.#entries.delete(hash)
    this.#pending.delete(hash)
  }

  /** An account was changed or deleted. */
  forgetUser(userId: string): void {
    for (const [hash, { principal }] of this.#entries.entries()) {
      // Keys of a suspended account are known as nobody's.
      if (!principal || principal.userId === userId) this.forgetKey(hash)
    }
    // A lookup under way may have read the account as it was.
    this.#pending.clear()
  }

  /** Notifications may have been missed: every entry is looked up again before it is used. */
  distrust(): void {
    this.#distrustedBeforeMs = this.#now()
    this.#pending.clear()
  }

  #isTrusted({ principal, fetchedAtMs }: Entry): boolean {
    const lifeMs = principal ? trustedMs : negativeMs
    return fetchedAtMs > this.#distrustedBeforeMs && this.#now() - fetchedAtMs < lifeMs
  }

  /** Whether the database just failed for this key, and the key is still good without it. */
  #isSpared({ principal, fetchedAtMs, failedAtMs }: Entry): boolean {
    const now = this.#now()
    const hasJustFailed = failedAtMs > this.#distrustedBeforeMs && now - failedAtMs < askAgainMs
    return hasJustFailed && principal !== undefined && now - fetchedAtMs < staleOnErrorMs
  }

  #fetch(hash: string): Promise<Entry> {
    const running = this.#pending.get(hash)
    if (running) return running
    const started = this.#now()
    const fetching = this.#lookUp(hash)
      .then(
        (principal) => {
          const spread = 1 + jitter * (2 * this.#random() - 1)
          const entry = {
            principal,
            fetchedAtMs: started,
            renewAtMs: started + renewAfterMs * spread,
            failedAtMs: -Infinity,
          }
          // Invalidated while it ran, it answers those who wait and is not kept.
          if (this.#pending.get(hash) === fetching) this.#entries.set(hash, entry)
          return entry
        },
        (cause: unknown) => {
          const known = this.#entries.peek(hash)
          if (known?.principal && started - known.fetchedAtMs < staleOnErrorMs) {
            known.failedAtMs = this.#now()
            return known
          }
          throw unavailable(cause)
        },
      )
      .finally(() => {
        if (this.#pending.get(hash) === fetching) this.#pending.delete(hash)
      })
    this.#pending.set(hash, fetching)
    return fetching
  }
}

/** The credential of an `Authorization` header; the scheme's name is taken in any case. */
function bearer(authorization: string | null): string {
  if (authorization === null || authorization.trim() === '') throw new ApiError('missing_api_key')
  const [, scheme = '', credential = ''] = /^(\S+)\s*(.*)$/s.exec(authorization.trim()) ?? []
  if (scheme.toLowerCase() !== 'bearer') throw new ApiError('invalid_api_key')
  if (credential === '') throw new ApiError('missing_api_key')
  return credential
}

function usable(principal: Principal | undefined): Principal {
  if (!principal) throw new ApiError('invalid_api_key')
  // Wall time: an expiry is a date that people wrote.
  if (principal.expiresAtMs !== null && principal.expiresAtMs <= Date.now()) {
    throw new ApiError('expired_api_key')
  }
  return principal
}

import { hashOf, isWellFormed } from './api-key'
import type { Principal } from './principal'
import { SwrCache } from '../platform/swr-cache'
import { ApiError } from '../errors'

/** Looks a key up by its hash; undefined for an unknown key and for a suspended account. */
export type FindApiKey = (hash: string) => Promise<Principal | undefined>

interface KeyringOptions {
  lookUp: FindApiKey
  /** Monotonic milliseconds. */
  now?: () => number
  random?: () => number
}

const capacity = 100_000

/**
 * A cache of API keys. One lookup per key at a time; a failed lookup serves the cached value for up to 5 minutes,
 * and is `gateway_unavailable` after that: an outage never makes a key invalid.
 */
export class ApiKeyCache {
  readonly #lookUps: SwrCache<Principal | undefined>

  constructor({ lookUp, now, random }: KeyringOptions) {
    this.#lookUps = new SwrCache({
      lookUp,
      capacity,
      isNothing: (principal) => principal === undefined,
      now,
      random,
    })
  }

  /** The number of cached keys. */
  get size(): number {
    return this.#lookUps.size
  }

  /**
   * Returns the principal of an `Authorization` header. A promise only for a lookup in the database. Throws or
   * rejects with `missing_api_key`, `invalid_api_key`, `expired_api_key`, `gateway_unavailable`, and with what
   * `onUnknown` throws, which is called before the lookup of a key that is not cached as valid.
   */
  authenticate(
    authorization: string | null,
    onUnknown?: () => void,
  ): Principal | Promise<Principal> {
    const found = this.#lookUps.of(hashIn(authorization), onUnknown)
    return found instanceof Promise ? found.then(usable) : usable(found)
  }

  /** Returns the cached principal: undefined where a lookup is required. */
  known(authorization: string | null): Principal | undefined {
    const known = this.#lookUps.known(hashIn(authorization))
    return known && usable(known.value)
  }

  /** Evicts a changed or deleted key. */
  forgetKey(hash: string): void {
    this.#lookUps.forget(hash)
  }

  /** Evicts the keys of a changed or deleted account. */
  forgetUser(userId: string): void {
    // Keys of a suspended account are cached without a principal.
    this.#lookUps.forgetWhere((principal) => !principal || principal.userId === userId)
  }

  /** Invalidates every entry, as notifications may have been missed: each is looked up again before use. */
  distrust(): void {
    this.#lookUps.distrust()
  }
}

const scheme = 'bearer'
const isBearer = /^bearer(?!\S)/i

/**
 * Parses the credential of an `Authorization` header; the scheme is case-insensitive. Throws `missing_api_key` and
 * `invalid_api_key`.
 */
export function parseBearer(authorization: string | null): string {
  const header = authorization?.trim() ?? ''
  if (header === '') throw new ApiError('missing_api_key')
  if (!isBearer.test(header)) throw new ApiError('invalid_api_key')
  const credential = header.slice(scheme.length).trimStart()
  if (credential === '') throw new ApiError('missing_api_key')
  return credential
}

/** Returns the hash of the key in a header. */
function hashIn(authorization: string | null): string {
  const key = parseBearer(authorization)
  if (!isWellFormed(key)) throw new ApiError('invalid_api_key')
  return hashOf(key)
}

function usable(principal: Principal | undefined): Principal {
  if (!principal) throw new ApiError('invalid_api_key')
  const { endsAtMs } = principal
  if (endsAtMs !== null && endsAtMs <= performance.now()) {
    throw new ApiError('expired_api_key')
  }
  return principal
}

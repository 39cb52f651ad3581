import { hashOf, isWellFormed } from './api-key'
import type { Principal } from './principal'
import { SwrCache } from '../db/swr-cache'
import { ApiError } from '../errors'

/** Looks one key up by its hash; undefined where there is none or its account is suspended. */
export type FindApiKey = (hash: string) => Promise<Principal | undefined>

interface KeyringOptions {
  lookUp: FindApiKey
  /** Monotonic milliseconds. */
  now?: () => number
  random?: () => number
}

const capacity = 100_000

/**
 * Keys, looked up from memory. One lookup a key at a time; a lookup that fails serves what was known,
 * up to 5 minutes, and is `gateway_unavailable` after that: an outage never makes a key invalid.
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

  /** How many keys are kept. */
  get size(): number {
    return this.#lookUps.size
  }

  /**
   * The principal of an `Authorization` header. A promise only when the database is asked. Throws
   * or rejects with `missing_api_key`, `invalid_api_key`, `expired_api_key`, `gateway_unavailable`, and
   * with what `onUnknown` throws, which is called before a key that nobody is known by is looked up.
   */
  authenticate(
    authorization: string | null,
    onUnknown?: () => void,
  ): Principal | Promise<Principal> {
    const found = this.#lookUps.of(hashIn(authorization), onUnknown)
    return found instanceof Promise ? found.then(usable) : usable(found)
  }

  /** The same without asking the database: undefined where it has to be asked. */
  known(authorization: string | null): Principal | undefined {
    const known = this.#lookUps.known(hashIn(authorization))
    return known && usable(known.value)
  }

  /** A key was changed or deleted. */
  forgetKey(hash: string): void {
    this.#lookUps.forget(hash)
  }

  /** An account was changed or deleted. */
  forgetUser(userId: string): void {
    // Keys of a suspended account are known as nobody's.
    this.#lookUps.forgetWhere((principal) => !principal || principal.userId === userId)
  }

  /** Notifications may have been missed: every entry is looked up again before it is used. */
  distrust(): void {
    this.#lookUps.distrust()
  }
}

const scheme = 'bearer'
const isBearer = /^bearer(?!\S)/i

/**
 * The credential of an `Authorization` header; the scheme's name is taken in any case. Throws
 * `missing_api_key` and `invalid_api_key`.
 */
export function parseBearer(authorization: string | null): string {
  const header = authorization?.trim() ?? ''
  if (header === '') throw new ApiError('missing_api_key')
  if (!isBearer.test(header)) throw new ApiError('invalid_api_key')
  const credential = header.slice(scheme.length).trimStart()
  if (credential === '') throw new ApiError('missing_api_key')
  return credential
}

/** What the key in a header is looked up by. */
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

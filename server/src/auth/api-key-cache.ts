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
  readonly #now: () => number

  constructor({ lookUp, now = () => performance.now(), random }: KeyringOptions) {
    this.#now = now
    this.#lookUps = new SwrCache({
      lookUp,
      capacity,
      isMissing: (principal) => principal === undefined,
      now,
      random,
    })
  }

  /** The number of cached keys. */
  get size(): number {
    return this.#lookUps.size
  }

  /**
   * Returns the principal of an `Authorization` header. Rejects with `missing_api_key`, `invalid_api_key`, `expired_api_key`, `gateway_unavailable`, and with what
   * `onUnknown` throws, which is called before the lookup of a key that is not cached as valid.
   */
  async authenticate(authorization: string | null, onUnknown?: () => void): Promise<Principal> {
    return assertUsable(await this.#lookUps.of(hashIn(authorization), onUnknown), this.#now)
  }

  /** Returns the cached principal: undefined where a lookup is required. */
  findCached(authorization: string | null): Principal | undefined {
    const cachedPrincipal = this.#lookUps.findKnown(hashIn(authorization))
    return cachedPrincipal && assertUsable(cachedPrincipal.value, this.#now)
  }

  /** Evicts a changed or deleted key. */
  invalidateKey(hash: string): void {
    this.#lookUps.invalidate(hash)
  }

  /** Evicts the keys of a changed or deleted account. */
  invalidateUser(userId: string): void {
    // Keys of a suspended account are cached without a principal.
    this.#lookUps.invalidateWhere((principal) => !principal || principal.userId === userId)
  }

  /** Invalidates every entry, as notifications may have been missed: each is looked up again before use. */
  invalidateAll(): void {
    this.#lookUps.invalidateAll()
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

const disabledMessage =
  'The API key is disabled. Its owner can enable it again under API keys, or with PATCH /api/account/keys/{id}.'

const replacedMessage =
  'This secret of the API key was replaced by a rotation, and is no longer valid. Use the new secret.'

function assertUsable(principal: Principal | undefined, now: () => number): Principal {
  if (!principal) throw new ApiError('invalid_api_key')
  const { endsAtMs, disabledUntilMs, secretEndsAtMs } = principal
  if (endsAtMs !== null && endsAtMs <= now()) {
    throw new ApiError('expired_api_key')
  }
  if (typeof secretEndsAtMs === 'number' && secretEndsAtMs <= now()) {
    throw new ApiError('invalid_api_key', { message: replacedMessage })
  }
  if (disabledUntilMs !== null && disabledUntilMs > now()) {
    throw new ApiError('invalid_api_key', { message: disabledMessage })
  }
  return principal
}

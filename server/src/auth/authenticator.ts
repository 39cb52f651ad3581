import type { AddressRate } from '../limits/address-rate'
import type { FailedAuthentications } from '../limits/failed-authentications'
import type { RateLimits } from '../limits/limits'
import type { UnknownKeyLimiter } from '../limits/unknown-key-limiter'
import type { ApiKeyCache } from './api-key-cache'
import {
  isAcceptedFrom,
  may,
  permit,
  permitAddress,
  type AddressSource,
  type Permission,
  type Principal,
} from './principal'
import { type LimitBucket } from '../limits/caller-limits'
import { ApiError, type RateLimitQuota } from '../errors'
import type { MaybePromise } from '../platform/maybe-promise'

/** A request that has to authenticate. */
export interface Credentialed {
  authorization: string | null
  /** Returns the address that the request came from. */
  address: () => string
  /** Reports the caller's quota, once that is known; undefined where no limit applies. */
  reportQuota: (quota: RateLimitQuota | undefined) => void
}

interface Ports {
  apiKeys: ApiKeyCache
  failures: FailedAuthentications
  /** Limits the look-ups of unknown keys. */
  unknownKeys: UnknownKeyLimiter
  limits: RateLimits
  lastUse: { note: (keyId: string, source: AddressSource) => void }
  /** Counts requests without a key. */
  anonymousCallers: AddressRate
  /** Requests to `/api`, for each account; called each time, as the setting may change. */
  apiPerMinute: () => number
}

type WindowsOf = (principal: Principal) => readonly LimitBucket[]

interface Authenticating {
  caller: Credentialed
  permission: Permission
  windowsOf: WindowsOf
}

/** Identity providers send up to 25 requests a second while they provision a directory. */
const directoryPerMinute = 1800

const requestWindows: WindowsOf = ({ limits }) => limits.requests

/** The first checks of every request: the key and its permission, then a rate. Source: contract 4.8. */
export class Authenticator {
  readonly #ports: Ports

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /**
   * Returns the caller; a promise only where the database is read. Throws or rejects with 401, with 429 for a client
   * that failed too often, and with `insufficient_permissions`.
   */
  authenticate(caller: Credentialed, permission: Permission): MaybePromise<Principal> {
    return this.#authenticate(caller, permission, requestWindows)
  }

  /** Authenticates, and counts the request in the limits of the caller. Rejects with `rate_limit_exceeded` too. */
  authenticateAndCount(caller: Credentialed, permission: Permission): Promise<Principal> {
    return this.#authenticateAndCount(caller, permission, requestWindows)
  }

  /** Authenticates for `/api`, which has a rate of its own for each account. Source: contract 3.1. */
  authenticateForApi(caller: Credentialed, permission: Permission): Promise<Principal> {
    return this.#authenticateAndCount(caller, permission, (principal) =>
      this.#apiWindows(principal),
    )
  }

  /** Authenticates a signed-in user, and counts the request in the rate of `/api`. */
  async authenticateSignedIn(
    principal: Principal,
    caller: Credentialed,
    permission: Permission,
  ): Promise<Principal> {
    permit(principal, permission)
    caller.reportQuota(await this.#ports.limits.count(this.#apiWindows(principal)))
    return principal
  }

  /**
   * Accepts the operator key. Throws `refusal` for any other key, and `rate_limit_exceeded` to addresses that sent
   * too many.
   */
  authenticateOperator({ address }: Credentialed, isKey: () => boolean, refusal: ApiError): void {
    const { failures } = this.#ports
    const client = address()
    if (!failures.isOperator(client, isKey)) throw failures.judge(client, refusal)
  }

  /**
   * Returns the directory of a token, which `find` looks up, and counts the request in its rate. Rejects with
   * `invalid_api_key` for an unknown token, and with `rate_limit_exceeded`, also for an address that sent too many.
   */
  async authenticateDirectory<Directory extends { id: string }>(
    { address, reportQuota }: Credentialed,
    find: () => Promise<Directory | undefined>,
  ): Promise<Directory> {
    const { failures, unknownKeys, limits } = this.#ports
    const client = address()
    failures.assertMayLookUp(client)
    let directory: Directory | undefined
    {
      using _lookUp = unknownKeys.admit(client)
      directory = await find()
    }
    if (!directory) {
      const message = 'The token is not valid: it is wrong, replaced or deleted.'
      throw failures.judge(client, new ApiError('invalid_api_key', { message }))
    }
    reportQuota(await limits.count([{ id: `scim:${directory.id}`, limit: directoryPerMinute }]))
    return directory
  }

  /** Admits a caller without a key: counted by address. Throws `rate_limit_exceeded`. */
  admitAnonymous({ address, reportQuota }: Credentialed): void {
    reportQuota(this.#ports.anonymousCallers.count(address()))
  }

  #apiWindows({ userId }: Principal): readonly LimitBucket[] {
    return [{ id: `api:${userId}`, limit: this.#ports.apiPerMinute() }]
  }

  #authenticate(
    caller: Credentialed,
    permission: Permission,
    windowsOf: WindowsOf,
  ): MaybePromise<Principal> {
    const cachedPrincipal = this.#findCached(caller)
    if (!cachedPrincipal) return this.#authenticateUnknown({ caller, permission, windowsOf })
    return this.#isPermitted(cachedPrincipal, caller, permission)
      ? cachedPrincipal
      : this.#refuse(cachedPrincipal, { caller, permission, windowsOf })
  }

  async #authenticateUnknown(authenticating: Authenticating): Promise<Principal> {
    const principal = await this.#lookUp(authenticating.caller)
    return this.#isPermitted(principal, authenticating.caller, authenticating.permission)
      ? principal
      : this.#refuse(principal, authenticating)
  }

  /** Whether a caller with a valid key has the permission, and an address that the key allows; notes the key's use. */
  #isPermitted(principal: Principal, caller: Credentialed, permission: Permission): boolean {
    this.#ports.lastUse.note(principal.keyId, caller)
    return may(principal, permission) && isAcceptedFrom(principal, caller)
  }

  /** A caller that is not permitted gets its quota all the same, as every caller with a valid key does. */
  async #refuse(
    principal: Principal,
    { caller, permission, windowsOf }: Authenticating,
  ): Promise<Principal> {
    caller.reportQuota(await this.#ports.limits.readQuota(windowsOf(principal)))
    permit(principal, permission)
    permitAddress(principal, caller)
    return principal
  }

  async #authenticateAndCount(caller: Credentialed, permission: Permission, windowsOf: WindowsOf) {
    const principal = await this.#authenticate(caller, permission, windowsOf)
    caller.reportQuota(await this.#ports.limits.count(windowsOf(principal)))
    return principal
  }

  /** Finds a key in memory, where nearly every valid key is. */
  #findCached(caller: Credentialed): Principal | undefined {
    try {
      return this.#ports.apiKeys.findCached(caller.authorization)
    } catch (thrown) {
      throw this.#toJudgedError(thrown, caller)
    }
  }

  async #lookUp(caller: Credentialed): Promise<Principal> {
    const { apiKeys, failures, unknownKeys } = this.#ports
    const address = caller.address()
    let lookUp: Disposable | undefined
    // Not for requests that wait for a running look-up: of one key a thousand may come at once.
    const mayLookUp = () => {
      failures.assertMayLookUp(address)
      lookUp = unknownKeys.admit(address)
    }
    try {
      return await apiKeys.authenticate(caller.authorization, mayLookUp)
    } catch (thrown) {
      throw this.#toJudgedError(thrown, caller)
    } finally {
      lookUp?.[Symbol.dispose]()
    }
  }

  #toJudgedError(thrown: unknown, caller: Credentialed): unknown {
    if (!(thrown instanceof ApiError) || thrown.status !== 401) return thrown
    return this.#ports.failures.judge(caller.address(), thrown)
  }
}

import type { AddressRate } from '../limits/address-rate'
import type { FailedAuthentications } from '../limits/failed-authentications'
import type { RateLimits } from '../limits/limits'
import type { UnknownKeyLimiter } from '../limits/unknown-key-limiter'
import type { ApiKeyCache } from './api-key-cache'
import { may, permit, type Permission, type Principal } from './principal'
import { type LimitBucket } from '../limits/caller-limits'
import { ApiError, type RateLimitQuota } from '../errors'

/** A request that has to authenticate. */
export interface Credentialed {
  authorization: string | null
  /** Returns the address that the request came from. */
  address: () => string
  /** Reports the caller's quota, once that is known; undefined where no limit applies. */
  tell: (quota: RateLimitQuota | undefined) => void
}

interface Ports {
  keyring: ApiKeyCache
  failures: FailedAuthentications
  /** Limits the look-ups of unknown keys. */
  strangers: UnknownKeyLimiter
  limits: RateLimits
  lastUse: { note: (keyId: string) => void }
  /** Counts requests without a key. */
  visitors: AddressRate
  /** Requests to `/api`, for each account; called each time, as the setting may change. */
  apiPerMinute: () => number
}

type WindowsOf = (principal: Principal) => readonly LimitBucket[]

interface Entering {
  caller: Credentialed
  required: Permission
  windowsOf: WindowsOf
}

const own: WindowsOf = ({ limits }) => limits.requests

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
  enter(caller: Credentialed, required: Permission): Principal | Promise<Principal> {
    return this.#enter(caller, required, own)
  }

  /** Authenticates, and counts the request in the limits of the caller. Rejects with `rate_limit_exceeded` too. */
  enterCounted(caller: Credentialed, required: Permission): Promise<Principal> {
    return this.#enterCounted(caller, required, own)
  }

  /** Authenticates for `/api`, which has a rate of its own for each account. Source: contract 3.1. */
  enterApi(caller: Credentialed, required: Permission): Promise<Principal> {
    return this.#enterCounted(caller, required, (principal) => this.#apiWindows(principal))
  }

  /** Authenticates a signed-in user, and counts the request in the rate of `/api`. */
  async enterSignedIn(
    principal: Principal,
    caller: Credentialed,
    required: Permission,
  ): Promise<Principal> {
    permit(principal, required)
    caller.tell(await this.#ports.limits.count(this.#apiWindows(principal)))
    return principal
  }

  /**
   * Accepts the operator key. Throws `refusal` for any other key, and `rate_limit_exceeded` to addresses that sent
   * too many.
   */
  enterOperator({ address }: Credentialed, isKey: () => boolean, refusal: ApiError): void {
    const { failures } = this.#ports
    const client = address()
    if (!failures.isOperator(client, isKey)) throw failures.judge(client, refusal)
  }

  /** Admits a caller without a key: counted by address. Throws `rate_limit_exceeded`. */
  visit({ address, tell }: Credentialed): void {
    tell(this.#ports.visitors.count(address()))
  }

  #apiWindows({ userId }: Principal): readonly LimitBucket[] {
    return [{ id: `api:${userId}`, limit: this.#ports.apiPerMinute() }]
  }

  #enter(
    caller: Credentialed,
    required: Permission,
    windowsOf: WindowsOf,
  ): Principal | Promise<Principal> {
    const known = this.#known(caller)
    if (!known) return this.#enterUnknown({ caller, required, windowsOf })
    return this.#mayEnter(known, required)
      ? known
      : this.#refuse(known, { caller, required, windowsOf })
  }

  async #enterUnknown(entering: Entering): Promise<Principal> {
    const found = await this.#lookUp(entering.caller)
    return this.#mayEnter(found, entering.required) ? found : this.#refuse(found, entering)
  }

  /** Whether a caller with an accepted key has the permission; notes the key's use. */
  #mayEnter(principal: Principal, required: Permission): boolean {
    this.#ports.lastUse.note(principal.keyId)
    return may(principal, required)
  }

  /** A caller without the permission gets its quota all the same, as every caller with an accepted key does. */
  async #refuse(
    principal: Principal,
    { caller, required, windowsOf }: Entering,
  ): Promise<Principal> {
    caller.tell(await this.#ports.limits.look(windowsOf(principal)))
    permit(principal, required)
    return principal
  }

  async #enterCounted(caller: Credentialed, required: Permission, windowsOf: WindowsOf) {
    const principal = await this.#enter(caller, required, windowsOf)
    caller.tell(await this.#ports.limits.count(windowsOf(principal)))
    return principal
  }

  /** Finds a key in memory, where nearly every valid key is. */
  #known(caller: Credentialed): Principal | undefined {
    try {
      return this.#ports.keyring.known(caller.authorization)
    } catch (thrown) {
      throw this.#judged(thrown, caller)
    }
  }

  async #lookUp(caller: Credentialed): Promise<Principal> {
    const { keyring, failures, strangers } = this.#ports
    const address = caller.address()
    let place: Disposable | undefined
    // Not for requests that wait for a running look-up: of one key a thousand may come at once.
    const mayLookUp = () => {
      failures.assertMayLookUp(address)
      place = strangers.enter(address)
    }
    try {
      return await keyring.authenticate(caller.authorization, mayLookUp)
    } catch (thrown) {
      throw this.#judged(thrown, caller)
    } finally {
      place?.[Symbol.dispose]()
    }
  }

  #judged(thrown: unknown, caller: Credentialed): unknown {
    if (!(thrown instanceof ApiError) || thrown.status !== 401) return thrown
    return this.#ports.failures.judge(caller.address(), thrown)
  }
}

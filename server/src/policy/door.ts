import type { FailedAuthentications } from './failed-authentications'
import type { Limits } from './limits'
import type { Keyring } from '../auth/keyring'
import { may, permit, type Permission, type Principal } from '../auth/principal'
import { ApiError, type Quota } from '../errors'

/** A request that has to say who it is. */
export interface Caller {
  authorization: string | null
  /** Where the request came from. */
  address: () => string
  /** Told where the caller stands, once that is known; undefined where nothing limits him. */
  tell: (quota: Quota | undefined) => void
}

interface Ports {
  keyring: Keyring
  failures: FailedAuthentications
  limits: Limits
  lastUse: { note: (keyId: string) => void }
}

/** The first two checks of every request with a key. Source: api.md 4.8. */
export class Door {
  readonly #ports: Ports

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /**
   * Who calls. Rejects with 401, with 429 for a client that failed too often, and with
   * `insufficient_permissions`.
   */
  async enter(caller: Caller, required: Permission): Promise<Principal> {
    const principal = await this.#authenticate(caller)
    this.#ports.lastUse.note(principal.keyId)
    if (!may(principal, required)) caller.tell(await this.#ports.limits.look(principal))
    permit(principal, required)
    return principal
  }

  /** The same, and counts the request. Rejects with `rate_limit_exceeded` too. */
  async enterCounted(caller: Caller, required: Permission): Promise<Principal> {
    const principal = await this.enter(caller, required)
    caller.tell(await this.#ports.limits.count(principal))
    return principal
  }

  /** No database in the steady state: a promise is awaited only where one was needed. */
  async #authenticate({ authorization, address }: Caller): Promise<Principal> {
    const { keyring, failures } = this.#ports
    try {
      const found = keyring.authenticate(authorization, () => failures.assertMayLookUp(address()))
      return found instanceof Promise ? await found : found
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.status !== 401) throw thrown
      throw failures.judge(address(), thrown)
    }
  }
}

import type { AddressRate } from './address-rate'
import type { FailedAuthentications } from './failed-authentications'
import type { Limits } from './limits'
import type { Strangers } from './strangers'
import type { Keyring } from '../auth/keyring'
import { may, permit, type Bucket, type Permission, type Principal } from '../auth/principal'
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
  /** Keys that are being looked up. */
  strangers: Strangers
  limits: Limits
  lastUse: { note: (keyId: string) => void }
  /** Of requests without a key. */
  visitors: AddressRate
  /** Requests to `/api`, for each account; asked each time, as it may be set anew. */
  apiPerMinute: () => number
}

type WindowsOf = (principal: Principal) => readonly Bucket[]

interface Entering {
  caller: Caller
  required: Permission
  windowsOf: WindowsOf
}

const own: WindowsOf = ({ limits }) => limits.requests

/** The first checks of every request: the key and its permission, then a rate. Source: contract 4.8. */
export class Door {
  readonly #ports: Ports

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /**
   * Who calls; a promise only where the database is asked. Throws or rejects with 401, with 429 for a
   * client that failed too often, and with `insufficient_permissions`.
   */
  enter(caller: Caller, required: Permission): Principal | Promise<Principal> {
    return this.#enter(caller, required, own)
  }

  /** The same, and counts the request in the limits of the caller. Rejects with `rate_limit_exceeded` too. */
  enterCounted(caller: Caller, required: Permission): Promise<Principal> {
    return this.#enterCounted(caller, required, own)
  }

  /** The same for `/api`, which has a rate of its own for each account. Source: contract 3.1. */
  enterApi(caller: Caller, required: Permission): Promise<Principal> {
    return this.#enterCounted(caller, required, (principal) => this.#apiWindows(principal))
  }

  /** The same for who is signed in. */
  async enterSignedIn(
    principal: Principal,
    caller: Caller,
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
  enterOperator({ address }: Caller, isKey: () => boolean, refusal: ApiError): void {
    const { failures } = this.#ports
    const client = address()
    if (!failures.isOperator(client, isKey)) throw failures.judge(client, refusal)
  }

  /** Somebody without a key: counted by address. Throws `rate_limit_exceeded`. */
  visit({ address, tell }: Caller): void {
    tell(this.#ports.visitors.count(address()))
  }

  #apiWindows({ userId }: Principal): readonly Bucket[] {
    return [{ id: `api:${userId}`, limit: this.#ports.apiPerMinute() }]
  }

  #enter(
    caller: Caller,
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

  /** Of somebody whose key was accepted. */
  #mayEnter(principal: Principal, required: Permission): boolean {
    this.#ports.lastUse.note(principal.keyId)
    return may(principal, required)
  }

  /** Who may not is told how far his limits are used, as everybody is whose key was accepted. */
  async #refuse(
    principal: Principal,
    { caller, required, windowsOf }: Entering,
  ): Promise<Principal> {
    caller.tell(await this.#ports.limits.look(windowsOf(principal)))
    permit(principal, required)
    return principal
  }

  async #enterCounted(caller: Caller, required: Permission, windowsOf: WindowsOf) {
    const principal = await this.#enter(caller, required, windowsOf)
    caller.tell(await this.#ports.limits.count(windowsOf(principal)))
    return principal
  }

  /** Nearly always the key is known here. */
  #known(caller: Caller): Principal | undefined {
    try {
      return this.#ports.keyring.known(caller.authorization)
    } catch (thrown) {
      throw this.#judged(thrown, caller)
    }
  }

  async #lookUp(caller: Caller): Promise<Principal> {
    const { keyring, failures, strangers } = this.#ports
    const address = caller.address()
    let place: Disposable | undefined
    // Not of those who wait for a look-up that runs: of one key a thousand may come at once.
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

  #judged(thrown: unknown, caller: Caller): unknown {
    if (!(thrown instanceof ApiError) || thrown.status !== 401) return thrown
    return this.#ports.failures.judge(caller.address(), thrown)
  }
}

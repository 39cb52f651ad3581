import type { AccountLeaseStore } from './account-lease-store'
import type { LeaseAnswer } from './lease-answer'
import { maxAmount } from './credit-demand'
import { LeaseThrottle } from './lease-throttle'
import { LocalLease, type ClockReading } from './local-lease'

interface Ports {
  bank: AccountLeaseStore
  newLeaseId: () => string
  /** Milliseconds of a monotonic clock and of the wall clock. */
  now: () => ClockReading
  pause: (ms: number) => Promise<void>
}

/** Credit that waiting requests need from the ledger. Amounts are nano-dollars. */
export interface LeaseDemand {
  /** The need of all of them, including what the lease already covers. */
  full: bigint
  /** An amount that would last a while. */
  wish: bigint
}

interface Taking {
  /** Read right before the call. */
  demand: () => LeaseDemand
  /** Makes other nodes return what they do not use, where the account has less. */
  isRecalling: boolean
}

const maxTries = 3

const none = { amount: 0n, available: 0n, elsewhere: 0n, unanswered: 0n, reserved: 0n }
const flags = { isApplied: true, isActive: false, isWaiting: false }
const noAccount: LeaseAnswer = { ...flags, ...none, generation: 0 }

/**
 * The leases of one account on one node, and the calls about them. One call at a time: a lease in an unknown
 * state is fenced before the next one.
 */
export class AccountLeases {
  readonly #ports: Ports
  readonly #throttle = new LeaseThrottle()
  #current: LocalLease | undefined
  #retired: LocalLease[] = []

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** The lease that holds are taken from; undefined before the first call, and after it was returned. */
  get current(): LocalLease | undefined {
    return this.#current
  }

  /** The current lease and those that end with their last request: all that must be renewed. */
  get all(): readonly LocalLease[] {
    return this.#current ? [this.#current, ...this.#retired] : this.#retired
  }

  /** Returns the current lease, unless it may have ended. */
  usable(now: ClockReading): LocalLease | undefined {
    const slice = this.#current
    if (!slice) return undefined
    const { monotonicMs, wallMs } = slice.usableUntil
    return now.monotonicMs < monotonicMs && now.wallMs < wallMs ? slice : undefined
  }

  /** Drops a lease that has ended, or was returned whole: the next call takes a new one. */
  drop(slice: LocalLease): void {
    if (this.#current === slice) this.#current = undefined
    this.#retired = this.#retired.filter((one) => one !== slice)
  }

  /** Makes the next call take a new lease; running requests end on this one. */
  retire(): void {
    if (this.#current) this.#retired = [...this.#retired, this.#current]
    this.#current = undefined
  }

  /** Limits the rate of lease work for one account. */
  async throttle(): Promise<void> {
    const { now, pause } = this.#ports
    const waitMs = this.#throttle.next(now().monotonicMs)
    if (waitMs > 0) await pause(waitMs)
  }

  /** Finds out how a call without an answer changed a lease; undefined where the lease has ended. */
  async fence(slice: LocalLease): Promise<LocalLease | undefined> {
    const { leaseId, generation } = slice
    const answer = await this.#ports.bank.fence({ leaseId, generation })
    if (answer?.isActive) {
      slice.adopt(answer)
      return slice
    }
    this.drop(slice)
    return undefined
  }

  /** Takes more into the current lease, or a new one. Rejects as the store does. */
  async take(taking: Taking): Promise<LeaseAnswer> {
    for (let tries = 0; tries < maxTries; tries++) {
      await this.throttle()
      const answer = await this.#tryTake(taking)
      if (answer) return answer
    }
    throw new Error('the lease changed under its node again and again')
  }

  /** Returns undefined where the lease was not in the state that this node assumed: the next try knows better. */
  async #tryTake({ demand, isRecalling }: Taking): Promise<LeaseAnswer | undefined> {
    const { bank, now, newLeaseId } = this.#ports
    const askedAt = now()
    let slice = this.usable(askedAt) ?? (await this.#revive(askedAt))
    if (slice?.isUnsure) slice = await this.fence(slice)
    slice ??= new LocalLease(newLeaseId(), askedAt.monotonicMs)
    const { leaseId, generation } = slice
    const { full, wish } = demand()
    const need = maxAmount(full - slice.free, 0n)
    // Set before the call: a call without an answer is fenced by the id.
    this.#current = slice
    try {
      const answer = await bank.take({ leaseId, generation, need, wish, isRecalling })
      if (answer?.isActive) slice.adopt(answer)
      else this.drop(slice)
      if (answer && !answer.isApplied) return undefined
      slice.prolong(askedAt)
      return answer ?? noAccount
    } catch (thrown) {
      if (!bank.isUndone(thrown)) slice.isUnsure = true
      else if (generation === 0) this.drop(slice)
      throw thrown
    }
  }

  /**
   * Revives a lease that has ended by a clock, as after a sleep. One that the ledger has not ended stays in use:
   * a new lease would leave its credit out of reach until the sweep.
   */
  async #revive(askedAt: ClockReading): Promise<LocalLease | undefined> {
    const slice = this.#current
    if (!slice || slice.isUnsure) return slice
    const renewed = await this.#ports.bank.renew(slice.leaseId)
    if (renewed) slice.confirm(renewed, askedAt)
    else this.drop(slice)
    return this.#current
  }
}

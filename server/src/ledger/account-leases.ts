import type { AccountLeaseStore } from './account-lease-store'
import type { LeaseAnswer } from './lease-answer'
import { maxAmount } from './credit-demand'
import { LeaseThrottle } from './lease-throttle'
import { LocalLease, type ClockReading } from './local-lease'

interface Ports {
  bank: AccountLeaseStore
  newLeaseId: () => string
  /** Milliseconds, of a clock that never goes back and of the wall. */
  now: () => ClockReading
  pause: (ms: number) => Promise<void>
}

/** What requests that wait want of the ledger. Amounts are nano-dollars. */
export interface LeaseDemand {
  /** What all of them need, whatever is in the slice already. */
  full: bigint
  /** What would last a while. */
  wish: bigint
}

interface Taking {
  /** As it is right before the call. */
  demand: () => LeaseDemand
  /** Has other nodes return what they do not use, where the account has less. */
  isRecalling: boolean
}

const maxTries = 3

const none = { amount: 0n, available: 0n, elsewhere: 0n, unanswered: 0n, reserved: 0n }
const flags = { isApplied: true, isActive: false, isWaiting: false }
const noAccount: LeaseAnswer = { ...flags, ...none, generation: 0 }

/**
 * The leases of one account on one node, and the calls about them. One call at a time: what is not known of a
 * lease is fenced before the next one.
 */
export class AccountLeases {
  readonly #ports: Ports
  readonly #throttle = new LeaseThrottle()
  #current: LocalLease | undefined
  #retired: LocalLease[] = []

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Holds are taken from it; undefined before the first call, and after it went back. */
  get current(): LocalLease | undefined {
    return this.#current
  }

  /** The current one and those that end with their last request: all that must be renewed. */
  get all(): readonly LocalLease[] {
    return this.#current ? [this.#current, ...this.#retired] : this.#retired
  }

  /** The current slice, unless its lease may have ended. */
  usable(now: ClockReading): LocalLease | undefined {
    const slice = this.#current
    if (!slice) return undefined
    const { monotonicMs, wallMs } = slice.usableUntil
    return now.monotonicMs < monotonicMs && now.wallMs < wallMs ? slice : undefined
  }

  /** The lease has ended, or all of it went back: the next call takes a new one. */
  drop(slice: LocalLease): void {
    if (this.#current === slice) this.#current = undefined
    this.#retired = this.#retired.filter((one) => one !== slice)
  }

  /** The next call takes a new lease; what runs ends on this one. */
  retire(): void {
    if (this.#current) this.#retired = [...this.#retired, this.#current]
    this.#current = undefined
  }

  /** Keeps the lease work of one account from becoming a storm. */
  async throttle(): Promise<void> {
    const { now, pause } = this.#ports
    const waitMs = this.#throttle.next(now().monotonicMs)
    if (waitMs > 0) await pause(waitMs)
  }

  /** Finds out what a call without an answer did to a slice; undefined where its lease has ended. */
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

  /** Takes more into the current slice, or a new one. Rejects as the bank does. */
  async take(taking: Taking): Promise<LeaseAnswer> {
    for (let tries = 0; tries < maxTries; tries++) {
      await this.throttle()
      const answer = await this.#tryTake(taking)
      if (answer) return answer
    }
    throw new Error('the lease changed under its node again and again')
  }

  /** Undefined where the lease was not as this node thought: the next try knows. */
  async #tryTake({ demand, isRecalling }: Taking): Promise<LeaseAnswer | undefined> {
    const { bank, now, newLeaseId } = this.#ports
    const askedAt = now()
    let slice = this.usable(askedAt) ?? (await this.#revive(askedAt))
    if (slice?.isUnsure) slice = await this.fence(slice)
    slice ??= new LocalLease(newLeaseId(), askedAt.monotonicMs)
    const { leaseId, generation } = slice
    const { full, wish } = demand()
    const need = maxAmount(full - slice.free, 0n)
    // Known before it is asked for: what goes unanswered is fenced by its id.
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
   * By a clock its lease has ended, as after a sleep. What the ledger has not ended goes on: another would
   * leave what is in this one out of reach until it is swept.
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

import type { AccountLeaseStore } from './account-lease-store'
import type { LeaseAnswer } from './lease-answer'
import { LeaseThrottle } from './lease-throttle'
import { LocalLease, type ClockReading } from './local-lease'

/** The dependencies of an account's credit on this node. */
export interface AccountCreditPorts {
  store: AccountLeaseStore
  newLeaseId: () => string
  /** Milliseconds of a monotonic clock and of the wall clock. */
  now: () => ClockReading
  pause: (ms: number) => Promise<void>
}

/** Credit that waiting requests need from the ledger. Amounts are nano-dollars. */
export interface LeaseDemand {
  /** The need of all of them, including what the lease already covers; 0 leaves the account's line. */
  full: bigint
  /** An amount that would last a while. */
  wish: bigint
}

/** The answer about a claim. */
export interface TakeAnswer extends LeaseAnswer {
  /** Whether the lease has less than was claimed. */
  isShort: boolean
}

interface Taking {
  /** Read right before the call. */
  demand: () => LeaseDemand
  /** Makes other nodes return what they do not use, where the account has less. */
  isReclaiming: boolean
}

const maxTries = 3

const none = { amount: 0n, available: 0n, onOtherNodes: 0n, unanswered: 0n, reserved: 0n }
const flags = { isApplied: true, isActive: false, isWaiting: false }
const noAccount: LeaseAnswer = { ...flags, ...none, generation: 0 }

/**
 * The leases of one account on one node, and the calls about them. One call at a time: a lease in an unknown
 * state is fenced before the next one.
 */
export class AccountLeases {
  readonly #ports: AccountCreditPorts
  readonly #throttle = new LeaseThrottle()
  #current: LocalLease | undefined
  #lastReclaim = 0n
  #retiredLeases: LocalLease[] = []

  constructor(ports: AccountCreditPorts) {
    this.#ports = ports
  }

  /** The lease that holds are taken from; undefined before the first call, and after it was returned. */
  get current(): LocalLease | undefined {
    return this.#current
  }

  /** The last reclaim that this node has received; see `LeaseReclaim`. What is read now as free answers it. */
  get lastReclaim(): bigint {
    return this.#lastReclaim
  }

  noteReclaim(at: bigint): void {
    if (at > this.#lastReclaim) this.#lastReclaim = at
  }

  /** The current lease and those that end with their last request: all that must be renewed. */
  get all(): readonly LocalLease[] {
    return this.#current ? [this.#current, ...this.#retiredLeases] : this.#retiredLeases
  }

  /** Returns the current lease, unless it may have ended. */
  findUsable(now: ClockReading): LocalLease | undefined {
    const lease = this.#current
    if (!lease) return undefined
    const { monotonicMs, wallMs } = lease.usableUntil
    return now.monotonicMs < monotonicMs && now.wallMs < wallMs ? lease : undefined
  }

  /** The leases that end with their last request and have free credit, which no request here uses any more. */
  get unused(): readonly LocalLease[] {
    return this.#retiredLeases.filter((lease) => lease.free > 0n && !lease.isUnsure)
  }

  /** Drops a lease that has ended, or was returned whole: the next call takes a new one. */
  drop(lease: LocalLease): void {
    if (this.#current === lease) this.#current = undefined
    this.#retiredLeases = this.#retiredLeases.filter((one) => one !== lease)
  }

  /** Makes the next call take a new lease; running requests end on this one. */
  retire(): void {
    if (this.#current) this.#retiredLeases = [...this.#retiredLeases, this.#current]
    this.#current = undefined
  }

  /** Limits the rate of lease work for one account. */
  async throttle(): Promise<void> {
    const { now, pause } = this.#ports
    const waitMs = this.#throttle.next(now().monotonicMs)
    if (waitMs > 0) await pause(waitMs)
  }

  /** Finds out how a call without an answer changed a lease; undefined where the lease has ended. */
  async fence(lease: LocalLease): Promise<LocalLease | undefined> {
    const { leaseId, generation } = lease
    const answer = await this.#ports.store.fence({ leaseId, generation })
    if (answer?.isActive) {
      lease.adopt(answer)
      return lease
    }
    this.drop(lease)
    return undefined
  }

  /** Takes more into the current lease, or a new one. Rejects as the store does. */
  async take(taking: Taking): Promise<TakeAnswer> {
    for (let tries = 0; tries < maxTries; tries++) {
      await this.throttle()
      const answer = await this.#tryTake(taking)
      if (answer) return answer
    }
    throw new Error('the lease changed under its node again and again')
  }

  /** Leaves the account's line, and returns what others in it need. Rejects as the store does. */
  async leaveLine(): Promise<void> {
    await this.#tryTake({ demand: () => ({ full: 0n, wish: 0n }), isReclaiming: false })
  }

  /** Returns undefined where the lease was not in the state that this node assumed: the next try knows better. */
  async #tryTake({ demand, isReclaiming }: Taking): Promise<TakeAnswer | undefined> {
    const { store, now, newLeaseId } = this.#ports
    const requestedAt = now()
    let lease = this.findUsable(requestedAt) ?? (await this.#revive(requestedAt))
    if (lease?.isUnsure) lease = await this.fence(lease)
    lease ??= new LocalLease(newLeaseId(), requestedAt.monotonicMs)
    const { leaseId, generation, free } = lease
    const { full, wish } = demand()
    const spare = lease.offer()
    const lastReclaim = this.#lastReclaim
    // Costs beyond their holds may have made it negative: they come first.
    const need = full === 0n ? 0n : full + spare - free
    // Set before the call: a call without an answer is fenced by the id.
    this.#current = lease
    try {
      const claim = { leaseId, generation, need, spare, wish, isReclaiming, lastReclaim }
      const answer = await store.take(claim)
      if (answer?.isActive) lease.adopt(answer)
      else this.drop(lease)
      if (answer && !answer.isApplied) return undefined
      lease.prolong(requestedAt)
      return { ...(answer ?? noAccount), isShort: lease.free < full }
    } catch (thrown) {
      if (!store.isUndone(thrown)) lease.loseOffered()
      else if (generation === 0) this.drop(lease)
      else lease.keepOffered()
      throw thrown
    }
  }

  /**
   * Revives a lease that has ended by a clock, as after a sleep. One that the ledger has not ended stays in use:
   * a new lease would leave its credit out of reach until the sweep.
   */
  async #revive(requestedAt: ClockReading): Promise<LocalLease | undefined> {
    const lease = this.#current
    if (!lease || lease.isUnsure) return lease
    const renewedLease = await this.#ports.store.renew(lease.leaseId)
    if (renewedLease) lease.confirm(renewedLease, requestedAt)
    else this.drop(lease)
    return this.#current
  }
}

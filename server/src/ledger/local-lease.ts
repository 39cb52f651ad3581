/** A reading of both clocks, the monotonic one and the wall clock. Milliseconds. */
export interface ClockReading {
  monotonicMs: number
  wallMs: number
}

/** A node stops using a lease 15 s before its end, counted from before the request for it. */
export const usableMs = 45_000

/** A node's part of a lease, in memory. Amounts are nano-dollars. */
export class LocalLease {
  readonly leaseId: string
  /** The reserved and confirmed amount, less what was returned. */
  amount = 0n
  /** The free part that a call in flight may return. `amount` is without it: what has no answer is not spent twice. */
  offeredAmount = 0n
  /** The amount that requests used, booked or not. */
  spent = 0n
  /** The most that running requests may use. */
  heldAmount = 0n
  /** The number of running requests with a hold. */
  holds = 0
  /**
   * The end of use, by the monotonic clock and by the wall clock, in milliseconds: no hold is taken from it
   * later.
   */
  usableUntil: ClockReading = { monotonicMs: 0, wallMs: 0 }
  /** The end of its last hold, by the monotonic clock. */
  settledAtMs = 0
  /** The ledger's last value; each change that this node requests raises it. 0 before the first. */
  generation = 0
  /**
   * A call about it went unanswered: `amount` is the least that it may be. It must be fenced before the next
   * call, and before any request is refused.
   */
  isUnsure = false

  /** The beginning of the lease, by the monotonic clock. */
  readonly begunAtMs: number

  constructor(leaseId: string, begunAtMs: number) {
    this.leaseId = leaseId
    this.begunAtMs = begunAtMs
  }

  /** Prolongs the use of a lease that was taken or renewed, from the moment of the request for it. */
  prolong({ monotonicMs, wallMs }: ClockReading): void {
    this.usableUntil = { monotonicMs: monotonicMs + usableMs, wallMs: wallMs + usableMs }
  }

  /** Adopts the ledger's state of the lease. */
  adopt({ generation, amount }: { generation: number; amount: bigint }): void {
    this.generation = generation
    this.amount = amount
    this.offeredAmount = 0n
    this.isUnsure = false
  }

  /** Sets the free part aside for a call that may return it, and returns it. */
  offer(): bigint {
    this.offeredAmount = this.free > 0n ? this.free : 0n
    this.amount -= this.offeredAmount
    return this.offeredAmount
  }

  /** Ends an offer whose call changed nothing. */
  keepOffered(): void {
    this.amount += this.offeredAmount
    this.offeredAmount = 0n
  }

  /** Ends an offer whose call has no answer. */
  loseOffered(): void {
    this.offeredAmount = 0n
    this.isUnsure = true
  }

  /** Prolongs a renewed lease from the moment of the request; an unknown generation makes it unsure, to be fenced. */
  confirm(renewedLease: { generation: number; amount: bigint }, requestedAt: ClockReading): void {
    if (renewedLease.generation !== this.generation) this.isUnsure = true
    else if (!this.isUnsure) this.amount = renewedLease.amount
    // The database has gone back, and lost what the lease was given since.
    if (renewedLease.generation < this.generation && renewedLease.amount < this.amount) {
      this.amount = renewedLease.amount
    }
    this.prolong(requestedAt)
  }

  get free(): bigint {
    return this.amount - this.spent - this.heldAmount
  }
}

/** The part of a usage event that a settled hold contributes. */
export interface Settled {
  leaseId: string
  /** The part of the cost that came out of the lease, in nano-dollars. */
  fromLease: bigint
}

/** Called when a hold of a lease ends, with its cost. */
export type OnHoldEnd = (cost: bigint, lease: LocalLease) => void

/** The worst case of one request, taken out of a lease. Ends once, by `settle`. */
export class Hold {
  readonly #lease: LocalLease
  readonly #onEnd: OnHoldEnd
  #amount: bigint
  #isOver = false

  constructor(lease: LocalLease, amount: bigint, onEnd: OnHoldEnd) {
    this.#lease = lease
    this.#amount = amount
    this.#onEnd = onEnd
    lease.heldAmount += amount
    lease.holds += 1
  }

  /** Nano-dollars. */
  get amount(): bigint {
    return this.#amount
  }

  get leaseId(): string {
    return this.#lease.leaseId
  }

  /** Absorbs another hold of the same lease; returns false, and does nothing, for a hold of another. */
  absorb(other: Hold): boolean {
    if (other.#lease !== this.#lease || this.#isOver || other.#isOver) return false
    other.#isOver = true
    this.#lease.holds -= 1
    this.#amount += other.#amount
    return true
  }

  /**
   * Ends the hold with the request's cost; 0 releases it. A cost beyond the hold comes out of the lease's free
   * credit, as far as there is any; the ledger finds the rest. Throws on a second call.
   */
  settle(cost: bigint): Settled {
    if (this.#isOver) throw new Error('a hold ends once')
    this.#isOver = true
    const lease = this.#lease
    lease.heldAmount -= this.#amount
    lease.holds -= 1
    const { free } = lease
    const fromLease = cost < free ? cost : free > 0n ? free : 0n
    lease.spent += fromLease
    this.#onEnd(cost, lease)
    return { leaseId: lease.leaseId, fromLease }
  }
}

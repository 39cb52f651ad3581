/** What is read of both clocks: one never goes back, the other is the wall's. Milliseconds. */
export interface ClockReading {
  monotonicMs: number
  wallMs: number
}

/** A node stops using a lease 15 s before it ends, counted from before it was asked for. */
export const usableMs = 45_000

/** What a node has of a lease, in memory. Amounts are nano-dollars. */
export class LocalLease {
  readonly leaseId: string
  /** What was reserved and has been confirmed, less what was given back. */
  amount = 0n
  /** What requests used, booked or not. */
  spent = 0n
  /** What running requests may use at most. */
  held = 0n
  /** How many of them. */
  holds = 0
  /** No hold is taken from it later: by the monotonic clock and by the wall, in milliseconds. */
  usableUntil: ClockReading = { monotonicMs: 0, wallMs: 0 }
  /** When a hold of it last ended, by the monotonic clock. */
  settledAtMs = 0
  /** As the ledger last said; each change that this node asks for raises it. 0 before the first. */
  generation = 0
  /**
   * A call about it went unanswered: `amount` is the least that it may be. It must be fenced before the next
   * call, and before anything is refused.
   */
  isUnsure = false

  /** When it was begun, by the monotonic clock. */
  readonly begunAtMs: number

  constructor(leaseId: string, begunAtMs: number) {
    this.leaseId = leaseId
    this.begunAtMs = begunAtMs
  }

  /** It was taken or renewed, asked for at that moment. */
  prolong({ monotonicMs, wallMs }: ClockReading): void {
    this.usableUntil = { monotonicMs: monotonicMs + usableMs, wallMs: wallMs + usableMs }
  }

  /** Takes over what the ledger says of the lease. */
  adopt({ generation, amount }: { generation: number; amount: bigint }): void {
    this.generation = generation
    this.amount = amount
    this.isUnsure = false
  }

  /** It was renewed, asked for at that moment; a generation that this node does not know is to be fenced. */
  confirm(renewed: { generation: number; amount: bigint }, askedAt: ClockReading): void {
    if (renewed.generation > this.generation) this.isUnsure = true
    else if (renewed.generation === this.generation) this.amount = renewed.amount
    this.prolong(askedAt)
  }

  get free(): bigint {
    return this.amount - this.spent - this.held
  }
}

/** What a settled hold tells the ledger. */
export interface Settled {
  leaseId: string
  /** Nano-dollars of the cost that came out of the lease. */
  fromLease: bigint
}

/** Told when a hold of a slice ends, and at what cost. */
export type OnHoldEnd = (cost: bigint, slice: LocalLease) => void

/** The worst case of one request, out of a slice. Ends once, by `settle`. */
export class Hold {
  readonly #slice: LocalLease
  readonly #onEnd: OnHoldEnd
  #amount: bigint
  #isOver = false

  constructor(slice: LocalLease, amount: bigint, onEnd: OnHoldEnd) {
    this.#slice = slice
    this.#amount = amount
    this.#onEnd = onEnd
    slice.held += amount
    slice.holds += 1
  }

  /** Nano-dollars. */
  get amount(): bigint {
    return this.#amount
  }

  get leaseId(): string {
    return this.#slice.leaseId
  }

  /** Takes over another hold of the same slice; false, and nothing done, for one of another. */
  absorb(other: Hold): boolean {
    if (other.#slice !== this.#slice || this.#isOver || other.#isOver) return false
    other.#isOver = true
    this.#slice.holds -= 1
    this.#amount += other.#amount
    return true
  }

  /**
   * Ends the hold with what the request cost; 0 releases it. What a cost is beyond the hold comes out
   * of the free slice, as far as there is any; the ledger looks for the rest. Throws on a second call.
   */
  settle(cost: bigint): Settled {
    if (this.#isOver) throw new Error('a hold ends once')
    this.#isOver = true
    const slice = this.#slice
    slice.held -= this.#amount
    slice.holds -= 1
    const { free } = slice
    const fromLease = cost < free ? cost : free > 0n ? free : 0n
    slice.spent += fromLease
    this.#onEnd(cost, slice)
    return { leaseId: slice.leaseId, fromLease }
  }
}

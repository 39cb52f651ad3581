import type { MonthSum, Unbooked, UsedBy } from '../ledger/month-sums'

interface NotedCost {
  startedAt: string
  cost: bigint
}

/** Beyond these the oldest are taken as they are, without asking whether they were booked. */
const mostNoted = 50_000

/**
 * What one account, key, organization or member used in the current month: as the database last said, with what this node
 * knows to be missing there, and what runs now. Amounts are nano-dollars.
 */
export class MonthlyUsage {
  readonly id: string
  readonly userId: string
  /** Set for an organization, and for a member of it. */
  readonly organizationId: string | null
  /** Read once, and counted since. */
  isKnown = false
  /** By the monotonic clock. */
  lastUsedMs: number
  #monthMs: number
  /** The same as events have it: ISO 8601 in UTC sorts as text. */
  #began: string
  #sum: MonthSum = { requests: 0, spent: 0n }
  readonly #noted = new Map<string, NotedCost>()
  #notedCost = 0n
  #running = 0
  #held = 0n

  constructor(of: UsedBy, at: { monthMs: number; nowMs: number }) {
    this.id = of.id
    this.userId = of.userId
    this.organizationId = of.organizationId ?? null
    this.#monthMs = at.monthMs
    this.#began = new Date(at.monthMs).toISOString()
    this.lastUsedMs = at.nowMs
  }

  /** Of an account: what others pay for it is none of its spending. */
  get isAccount(): boolean {
    return this.id === this.userId
  }

  /** Admitted requests, those included that run. */
  get requests(): number {
    return this.#sum.requests + this.#noted.size + this.#running
  }

  /** What was spent, and what running requests may spend at most. */
  get spent(): bigint {
    return this.#sum.spent + this.#notedCost + this.#held
  }

  /** Nothing is known here that the database does not know. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#noted.size === 0
  }

  get unbooked(): readonly Unbooked[] {
    return [...this.#noted].map(([id, { startedAt }]) => ({ id, startedAt }))
  }

  enter(): void {
    this.#running++
  }

  leave(): void {
    this.#running--
  }

  /** Holds more, or less. */
  hold(difference: bigint): void {
    this.#held += difference
  }

  /** A request ended; once. It counts in the month in which it began, as it does in the database. */
  note({ id, startedAt }: Unbooked, cost: bigint): void {
    if (startedAt < this.#began) return
    this.#noted.set(id, { startedAt, cost })
    this.#notedCost += cost
    if (this.#noted.size <= mostNoted) return
    const [oldest] = this.#noted.keys()
    if (oldest === undefined) return
    const { requests, spent } = this.#sum
    this.#sum = { requests: requests + 1, spent: spent + this.drop(oldest) }
  }

  /** An event is in the database, or never will be. Returns its cost. */
  drop(eventId: string): bigint {
    const cost = this.#noted.get(eventId)?.cost ?? 0n
    this.#noted.delete(eventId)
    this.#notedCost -= cost
    return cost
  }

  /** Another month: nothing was used in it yet. What runs still counts. */
  turn(monthMs: number): void {
    if (monthMs === this.#monthMs) return
    this.#monthMs = monthMs
    this.#began = new Date(monthMs).toISOString()
    this.#sum = { requests: 0, spent: 0n }
    for (const [id, { startedAt }] of this.#noted) {
      if (startedAt < this.#began) this.drop(id)
    }
  }

  /** What the database said of a month, and which events were in it. */
  take(monthMs: number, sum: MonthSum, booked: readonly string[]): void {
    this.isKnown = true
    // It turned meanwhile, and of the new month nothing is used yet.
    if (monthMs !== this.#monthMs) return
    this.#sum = sum
    for (const id of booked) this.drop(id)
  }
}

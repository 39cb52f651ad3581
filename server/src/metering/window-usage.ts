import type { Unbooked, UsedBy, WindowSum } from '../ledger/window-sums'
import { findWindow, type Window, type WindowRule } from '../platform/time-window'

interface NotedCost {
  startedAt: string
  cost: bigint
}

/** The use that is counted: as in `UsedBy`, by the windows of a rule. */
interface CountedUse extends Omit<UsedBy, 'window'> {
  rule: WindowRule
}

/** Beyond this number the oldest count as booked, without a check. */
const maxNoted = 50_000

/**
 * The usage of one account, key, organization or member in the current window of a rule: the database's last sum, the
 * events that this node knows to be missing there, and running requests. Amounts are nano-dollars.
 */
export class WindowUsage implements UsedBy {
  readonly id: string
  readonly subjectId: string
  readonly userId: string
  /** Set for an organization, and for a member of it. */
  readonly organizationId: string | null
  /** Set once the sum was read; it is counted since. */
  isKnown = false
  /** Monotonic milliseconds. */
  lastUsedMs: number
  readonly #rule: WindowRule
  #window: Window
  /** The window's beginning as events have it: ISO 8601 in UTC sorts as text. */
  #began: string
  #sum: WindowSum = { requests: 0, spent: 0n }
  readonly #notedCosts = new Map<string, NotedCost>()
  #notedCost = 0n
  #running = 0
  #heldAmount = 0n

  constructor(of: CountedUse, at: { wallMs: number; nowMs: number }) {
    this.id = of.id
    this.subjectId = of.subjectId
    this.userId = of.userId
    this.organizationId = of.organizationId ?? null
    this.#rule = of.rule
    this.#window = findWindow(of.rule, at.wallMs)
    this.#began = new Date(this.#window.fromMs).toISOString()
    this.lastUsedMs = at.nowMs
  }

  /** The window that is counted. */
  get window(): Window {
    return this.#window
  }

  /** For an account: payments by other parties are none of its spending. */
  get isAccount(): boolean {
    return this.subjectId === this.userId
  }

  /** The number of admitted requests, including running ones. */
  get requests(): number {
    return this.#sum.requests + this.#notedCosts.size + this.#running
  }

  /** The spent amount, and the most that running requests may spend. */
  get spent(): bigint {
    return this.#sum.spent + this.#notedCost + this.#heldAmount
  }

  /** Whether the database knows everything that is known here. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#notedCosts.size === 0
  }

  get unbooked(): readonly Unbooked[] {
    return [...this.#notedCosts].map(([id, { startedAt }]) => ({ id, startedAt }))
  }

  addRunning(): void {
    this.#running++
  }

  leave(): void {
    this.#running--
  }

  /** Adds to the held amount, or subtracts from it. */
  hold(difference: bigint): void {
    this.#heldAmount += difference
  }

  /** Notes the end of a request, once. It counts in the window in which it began, as it does in the database. */
  note({ id, startedAt }: Unbooked, cost: bigint): void {
    if (startedAt < this.#began) return
    this.#notedCosts.set(id, { startedAt, cost })
    this.#notedCost += cost
    if (this.#notedCosts.size <= maxNoted) return
    const [oldest] = this.#notedCosts.keys()
    if (oldest === undefined) return
    const { requests, spent } = this.#sum
    this.#sum = { requests: requests + 1, spent: spent + this.drop(oldest) }
  }

  /** Drops an event that is in the database, or never will be. Returns its cost. */
  drop(eventId: string): bigint {
    const cost = this.#notedCosts.get(eventId)?.cost ?? 0n
    this.#notedCosts.delete(eventId)
    this.#notedCost -= cost
    return cost
  }

  /** Begins the window of a moment, without usage, where that is another one. Running requests still count. */
  moveTo(wallMs: number): void {
    if (wallMs >= this.#window.fromMs && wallMs < this.#window.toMs) return
    this.#window = findWindow(this.#rule, wallMs)
    this.#began = new Date(this.#window.fromMs).toISOString()
    this.#sum = { requests: 0, spent: 0n }
    for (const [id, { startedAt }] of this.#notedCosts) {
      if (startedAt < this.#began) this.drop(id)
    }
  }

  /** Takes over the database's sum of a window, and the events that it contains. */
  take(window: Window, sum: WindowSum, bookedIds: readonly string[]): void {
    this.isKnown = true
    // The next window began meanwhile, and has no usage yet.
    if (window.fromMs !== this.#window.fromMs) return
    this.#sum = sum
    for (const id of bookedIds) this.drop(id)
  }
}

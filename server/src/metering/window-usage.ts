import { WindowShare, type Clocks } from './window-share'
import type { WindowLimit } from '../limits/caller-limits'
import { noAmounts, toAmounts, type Amounts, type ShareUnit } from '../ledger/shares/grant-share'
import type { SharedUsage } from '../ledger/shares/share-exchange'
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
/** Later than any usage. */
const latestMs = Date.UTC(9999, 0)

/**
 * The usage of one account, key, organization or member in the current window of a rule: the database's last sum, the
 * events that this node knows to be missing there, and running requests. Amounts are nano-dollars.
 */
export class WindowUsage implements SharedUsage {
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
  /** The window's beginning and its end as events have them: ISO 8601 in UTC sorts as text. */
  #began = ''
  #ends = ''
  #sum: WindowSum = { requests: 0, spent: 0n }
  /** Of all windows: a clock that is set back begins an earlier one again. */
  readonly #notedCosts = new Map<string, NotedCost>()
  /** Those of them in the window. */
  #notedRequests = 0
  #notedCost = 0n
  #running = 0
  #heldAmount = 0n
  /** This node's part of the limits, which it serves requests from. */
  readonly share = new WindowShare()
  /** The limits of the caller that is being admitted. */
  #limits: { of: object; requests: bigint | null; spent: bigint | null } | undefined

  constructor(of: CountedUse, at: { wallMs: number; nowMs: number }) {
    this.id = of.id
    this.subjectId = of.subjectId
    this.userId = of.userId
    this.organizationId = of.organizationId ?? null
    this.#rule = of.rule
    this.#window = this.#begin(at.wallMs)
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
    return this.#sum.requests + this.#notedRequests + this.#running
  }

  /** The spent amount, and the most that running requests may spend. */
  get spent(): bigint {
    return this.#sum.spent + this.#notedCost + this.#heldAmount
  }

  /** Whether the database knows everything that is known here. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#notedCosts.size === 0
  }

  /** The usage that the database has booked, of all nodes. */
  get bookedAmounts(): Amounts {
    return { requests: BigInt(this.#sum.requests), spent: this.#sum.spent }
  }

  /** The amounts that this node has used beyond that, and that running requests hold. */
  get used(): Amounts {
    return toAmounts((unit) => this.usedOf(unit))
  }

  usedOf(unit: ShareUnit): bigint {
    return unit === 'spent'
      ? this.#notedCost + this.#heldAmount
      : BigInt(this.#notedRequests + this.#running)
  }

  /** Returns what is used for certain: no request that ends gives it back. */
  certainOf(unit: ShareUnit): bigint {
    return unit === 'spent'
      ? this.#sum.spent + this.#notedCost
      : BigInt(this.#sum.requests + this.#notedRequests)
  }

  /** Returns what this node may use at once: it has a share of it. */
  freeOf(unit: ShareUnit, at: Clocks): bigint {
    return this.share.freeOf(unit, this, at)
  }

  /** Adds a limit of a caller; `of` is the same for all limits of one caller. */
  addLimit({ requests, spend }: WindowLimit, of: object): void {
    const before = this.#limits?.of === of ? this.#limits : undefined
    this.#limits = {
      of,
      requests: tighter(before?.requests ?? null, requests === null ? null : BigInt(requests)),
      spent: tighter(before?.spent ?? null, spend),
    }
  }

  /** All limits of the caller were added. */
  applyLimits(): void {
    if (this.#limits) this.share.limitTo(this.#limits, this.used)
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
    this.#notedCosts.set(id, { startedAt, cost })
    this.#count(startedAt, cost, 1)
    this.share.noteUse(cost, this.lastUsedMs)
    if (this.#notedCosts.size <= maxNoted) return
    const [oldest] = this.#notedCosts.keys()
    if (oldest === undefined) return
    const { requests, spent } = this.#sum
    const droppedUse = this.drop(oldest)
    this.#sum = {
      requests: requests + Number(droppedUse.requests),
      spent: spent + droppedUse.spent,
    }
    this.share.onBooked(droppedUse, droppedUse)
  }

  /** Drops an event that is in the database, or never will be. Returns what it counted in the window. */
  drop(eventId: string): Amounts {
    const notedCost = this.#notedCosts.get(eventId)
    if (!notedCost) return noAmounts
    this.#notedCosts.delete(eventId)
    this.#count(notedCost.startedAt, notedCost.cost, -1)
    return this.#isIn(notedCost.startedAt) ? { requests: 1n, spent: notedCost.cost } : noAmounts
  }

  #isIn(startedAt: string): boolean {
    return startedAt >= this.#began && startedAt < this.#ends
  }

  #count(startedAt: string, cost: bigint, sign: 1 | -1): void {
    if (!this.#isIn(startedAt)) return
    this.#notedRequests += sign
    this.#notedCost += BigInt(sign) * cost
  }

  /** Begins the window of a moment, without usage, where that is another one. Running requests still count. */
  moveTo(wallMs: number): void {
    if (wallMs >= this.#window.fromMs && wallMs < this.#window.toMs) return
    this.#window = this.#begin(wallMs)
    this.#sum = { requests: 0, spent: 0n }
    this.share.reset()
    this.#notedRequests = 0
    this.#notedCost = 0n
    for (const { startedAt, cost } of this.#notedCosts.values()) this.#count(startedAt, cost, 1)
  }

  #begin(wallMs: number): Window {
    const window = findWindow(this.#rule, wallMs)
    this.#began = new Date(window.fromMs).toISOString()
    this.#ends = new Date(Math.min(window.toMs, latestMs)).toISOString()
    return window
  }

  /** Takes over the database's sum of a window, and the events that it contains. */
  take(window: Window, sum: WindowSum, bookedIds: readonly string[]): void {
    this.isKnown = true
    // The next window began meanwhile, and has no usage yet.
    if (window.fromMs !== this.#window.fromMs) return
    const own = { requests: 0n, spent: 0n }
    for (const id of bookedIds) {
      const droppedUse = this.drop(id)
      own.requests += droppedUse.requests
      own.spent += droppedUse.spent
    }
    const { requests, spent } = this.#sum
    const all = { requests: BigInt(sum.requests - requests), spent: sum.spent - spent }
    this.#sum = sum
    this.share.onBooked(own, all)
  }
}

/** Returns the tighter of two limits; null is none. */
const tighter = (one: bigint | null, other: bigint | null): bigint | null => {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

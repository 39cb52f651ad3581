import { WindowShare, type Clocks } from './window-share'
import type { WindowLimit } from '../limits/caller-limits'
import { findLimitInForce } from '../limits/limit-in-force'
import { noAmounts, toAmounts, type Amounts, type ShareUnit } from '../ledger/shares/grant-share'
import type { SharedUsage } from '../ledger/shares/share-exchange'
import type { Unbooked, UsedBy, WindowSum } from '../ledger/window-sums'
import {
  matchesFilter,
  type FilteredUse,
  type OrganizationPayments,
  type UsageFilter,
} from '../platform/usage-filter'
import { findWindow, type Window, type WindowRule } from '../platform/time-window'

/** The use of one request. */
interface RequestUse {
  cost: bigint
  tokens: bigint
}

interface NotedUse extends RequestUse {
  startedAt: string
}

/** The units of what running requests hold. */
export type HeldUnit = Exclude<ShareUnit, 'requests'>

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
  /** The requests that it is of; undefined for all. */
  readonly filter: UsageFilter | undefined
  /** Set for what an organization pays. */
  readonly payments: OrganizationPayments | undefined
  /** Set once the sum was read; it is counted since. */
  isKnown = false
  /** Monotonic milliseconds. */
  lastUsedMs: number
  readonly #rule: WindowRule
  #window: Window
  /** The window's beginning and its end as events have them: ISO 8601 in UTC sorts as text. */
  #began = ''
  #ends = ''
  #sum = noAmounts
  /** Of all windows: a clock that is set back begins an earlier one again. */
  readonly #notedUses = new Map<string, NotedUse>()
  /** Those of them in the window. */
  #notedAmounts = noAmounts
  #running = 0n
  readonly #heldAmounts: Record<HeldUnit, bigint> = { spent: 0n, tokens: 0n }
  /** This node's part of the limits, which it serves requests from. */
  readonly share = new WindowShare()
  /** The limits of the caller that was admitted last, and the moments between which they are as they were applied. */
  #callerLimits: { of: object; limits: WindowLimit[] } | undefined
  #appliedFromMs = -Infinity
  #appliedUntilMs = Infinity
  /** The wall clock as it was last stated. */
  #atMs: number

  constructor(of: CountedUse, at: { wallMs: number; nowMs: number }) {
    this.id = of.id
    this.subjectId = of.subjectId
    this.userId = of.userId
    this.organizationId = of.organizationId ?? null
    this.filter = of.filter
    this.payments = of.payments
    this.#rule = of.rule
    this.#window = this.#begin(at.wallMs)
    this.#atMs = at.wallMs
    this.lastUsedMs = at.nowMs
  }

  /** The window that is counted. */
  get window(): Window {
    return this.#window
  }

  /** Returns whether two moments are in the same window. */
  isSameWindow(oneMs: number, otherMs: number): boolean {
    return findWindow(this.#rule, oneMs).fromMs === findWindow(this.#rule, otherMs).fromMs
  }

  /** For an account: payments by other parties are none of its spending. */
  get isAccount(): boolean {
    return this.subjectId === this.userId
  }

  /** Returns the amount that was used, and the most that running requests may use. */
  amountOf(unit: ShareUnit): bigint {
    return this.#sum[unit] + this.usedOf(unit)
  }

  /** Returns whether it counts a request. */
  counts(use: FilteredUse): boolean {
    return this.filter === undefined || matchesFilter(this.filter, use)
  }

  /** Whether the database knows everything that is known here. */
  get isIdle(): boolean {
    return this.#running === 0n && this.#notedUses.size === 0
  }

  /** The usage that the database has booked, of all nodes. */
  get bookedAmounts(): Amounts {
    return this.#sum
  }

  /** The amounts that this node has used beyond that, and that running requests hold. */
  get used(): Amounts {
    return toAmounts((unit) => this.usedOf(unit))
  }

  usedOf(unit: ShareUnit): bigint {
    return (
      this.#notedAmounts[unit] + (unit === 'requests' ? this.#running : this.#heldAmounts[unit])
    )
  }

  /** Returns what is used for certain: no request that ends gives it back. */
  certainOf(unit: ShareUnit): bigint {
    return this.#sum[unit] + this.#notedAmounts[unit]
  }

  /** Returns what this node may use at once: it has a share of it. */
  freeOf(unit: ShareUnit, at: Clocks): bigint {
    return this.share.freeOf(unit, this, at)
  }

  /** Adds a limit of a caller; `of` is the same for all limits of one caller. */
  addLimit(limit: WindowLimit, of: object): void {
    if (this.#callerLimits?.of === of) this.#callerLimits.limits.push(limit)
    else this.#callerLimits = { of, limits: [limit] }
  }

  /** All limits of the caller were added; they are applied as they are in force now. */
  applyLimits(): void {
    if (!this.#callerLimits) return
    const all: Record<ShareUnit, bigint | null> = { requests: null, spent: null, tokens: null }
    this.#appliedFromMs = -Infinity
    this.#appliedUntilMs = Infinity
    for (const one of this.#callerLimits.limits) {
      const { limit, fromMs, untilMs } = findLimitInForce(one, this.#atMs)
      const { requests, spend, tokens = null } = limit
      all.requests = tighter(all.requests, requests === null ? null : BigInt(requests))
      all.spent = tighter(all.spent, spend)
      all.tokens = tighter(all.tokens, tokens)
      this.#appliedFromMs = Math.max(this.#appliedFromMs, fromMs)
      this.#appliedUntilMs = Math.min(this.#appliedUntilMs, untilMs)
    }
    this.share.limitTo(all, this.used)
  }

  /** Returns a limit as it is in force at the moment that was stated last. */
  inForce(limit: WindowLimit): WindowLimit {
    return limit.budget?.override ? findLimitInForce(limit, this.#atMs).limit : limit
  }

  /** States the wall clock: another amount of a limit may have come into force. */
  setTime(wallMs: number): void {
    this.#atMs = wallMs
    if (wallMs < this.#appliedFromMs || wallMs >= this.#appliedUntilMs) this.applyLimits()
  }

  get unbooked(): readonly Unbooked[] {
    return [...this.#notedUses].map(([id, { startedAt }]) => ({ id, startedAt }))
  }

  addRunning(): void {
    this.#running += 1n
  }

  leave(): void {
    this.#running -= 1n
  }

  /** Adds to the held amount, or subtracts from it. */
  hold(difference: bigint, unit: HeldUnit): void {
    this.#heldAmounts[unit] += difference
  }

  /** Notes the end of a request, once. It counts in the window in which it began, as it does in the database. */
  note({ id, startedAt }: Unbooked, { cost, tokens }: RequestUse): void {
    this.#notedUses.set(id, { startedAt, cost, tokens })
    const use = { requests: 1n, spent: cost, tokens }
    if (this.#isIn(startedAt)) this.#notedAmounts = sumOf(this.#notedAmounts, use)
    this.share.noteUse(use, this.lastUsedMs)
    if (this.#notedUses.size <= maxNoted) return
    const [oldest] = this.#notedUses.keys()
    if (oldest === undefined) return
    const droppedUse = this.drop(oldest)
    this.#sum = sumOf(this.#sum, droppedUse)
    this.share.onBooked(droppedUse, droppedUse)
  }

  /** Drops an event that is in the database, or never will be. Returns what it counted in the window. */
  drop(eventId: string): Amounts {
    const notedUse = this.#notedUses.get(eventId)
    if (!notedUse) return noAmounts
    this.#notedUses.delete(eventId)
    if (!this.#isIn(notedUse.startedAt)) return noAmounts
    const use = { requests: 1n, spent: notedUse.cost, tokens: notedUse.tokens }
    this.#notedAmounts = differenceOf(this.#notedAmounts, use)
    return use
  }

  #isIn(startedAt: string): boolean {
    return startedAt >= this.#began && startedAt < this.#ends
  }

  /** Begins the window of a moment, without usage, where that is another one. Running requests still count. */
  moveTo(wallMs: number): void {
    this.setTime(wallMs)
    if (wallMs >= this.#window.fromMs && wallMs < this.#window.toMs) return
    this.#window = this.#begin(wallMs)
    this.#sum = noAmounts
    this.share.reset()
    this.#notedAmounts = noAmounts
    for (const { startedAt, cost, tokens } of this.#notedUses.values()) {
      if (this.#isIn(startedAt))
        this.#notedAmounts = sumOf(this.#notedAmounts, { requests: 1n, spent: cost, tokens })
    }
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
    let own = noAmounts
    for (const id of bookedIds) {
      const droppedUse = this.drop(id)
      if (droppedUse !== noAmounts) own = sumOf(own, droppedUse)
    }
    const bookedSum = { ...sum, requests: BigInt(sum.requests) }
    const all = differenceOf(bookedSum, this.#sum)
    this.#sum = bookedSum
    this.share.onBooked(own, all)
  }
}

const sumOf = (one: Amounts, other: Amounts): Amounts =>
  toAmounts((unit) => one[unit] + other[unit])
const differenceOf = (one: Amounts, other: Amounts): Amounts =>
  toAmounts((unit) => one[unit] - other[unit])

/** Returns the tighter of two limits; null is none. */
const tighter = (one: bigint | null, other: bigint | null): bigint | null => {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

import { WindowUsage } from './window-usage'
import { refuseByRequests } from './limit-refusal'
import { ShareExchanges, type SharePorts } from './share-exchanges'
import type { CountedLimit } from './unit-hold'
import { WindowReservation } from './window-reservation'
import { toShareRecall } from '../ledger/shares/share-exchange'
import type { MaybePromise } from '../platform/maybe-promise'
import { toPaymentsId } from '../platform/usage-filter'
import type { WindowLimit } from '../limits/caller-limits'
import { findWindow, monthInUtc, type Window } from '../platform/time-window'
import { unavailable } from '../errors'
import type { UsedBy, WindowQuery, WindowSums } from '../ledger/window-sums'
import { costToCaller, tokensRead, tokensWritten, type UsageEvent } from '../ledger/usage-event'

interface Options {
  /** Rejects when there is no answer in time. */
  read: (query: WindowQuery, timeoutMs: number) => Promise<WindowSums>
  /** Monotonic milliseconds. */
  now: () => number
  wallMs: () => number
  onError: (error: unknown) => void
  shares: SharePorts
}

/** The ids whose limits apply: an account and a key, or an organization and its member. */
interface Limited {
  userId: string
  organizationId?: string | undefined
  limits: { windows: readonly WindowLimit[] }
}

/** A first read is waited for by requests: with a near database they fail within a second. */
const firstReadTimeoutMs = 900
const readTimeoutMs = 5000
const retryAfterMs = 1000
const evictAfterMs = 120_000
const maxBatch = 500

type Dropped = Pick<UsageEvent, 'id' | 'userId' | 'keyId' | 'organizationId'>

/** Returns the id under which a member's part of an organization's usage is counted. */
export const memberIn = (organizationId: string, userId: string) => `${organizationId} ${userId}`

/** Returns the calendar month of a moment, in UTC. */
export const toMonth = (wallMs: number): Window => findWindow(monthInUtc, wallMs)

const none: readonly WindowUsage[] = []

/**
 * Requests and spending per calendar month, and per window of a budget, of the accounts, keys, organizations and
 * members that have such limits. Sums are read when one first appears, counted here from then on, and read again every few seconds, as
 * other nodes spend too. Requests are admitted out of this node's share of each limit, so that all nodes together keep to
 * it. Entries that stay unused for two minutes are evicted. Source: contract 11.4.
 */
export class SpendingLimits {
  readonly #options: Options
  readonly #usages = new Map<string, WindowUsage>()
  /** The same by account, key, organization or member, of which each has one for each rule of its limits. */
  readonly #bySubject = new Map<string, readonly WindowUsage[]>()
  /** First readings in progress, by id. */
  readonly #reading = new Map<string, Promise<void>>()
  readonly #exchanges: ShareExchanges
  #failedAtMs = -Infinity

  constructor(options: Options) {
    this.#options = options
    this.#exchanges = new ShareExchanges(options.shares)
  }

  /** The number of entries in memory. */
  get size(): number {
    return this.#usages.size
  }

  /**
   * Counts a request. Returns a promise only where the database is read, or a share does not suffice. Throws or rejects
   * with `rate_limit_exceeded`, and with `gateway_unavailable` where the usage cannot be read.
   */
  admit(request: Limited): MaybePromise<WindowReservation> {
    const limits = this.#countedLimitsOf(request)
    const unreadLimits = limits.filter(({ usage }) => !usage.isKnown)
    if (unreadLimits.length === 0) return this.#admitCounted(limits)
    return Promise.all(unreadLimits.map(({ usage }) => this.#firstRead(usage))).then(() =>
      // The next window may have begun, and an unused entry may be evicted.
      this.#admitCounted(this.#countedLimitsOf(request)),
    )
  }

  /** Another node waits for what this one does not use of its share, as the text of a recall says. */
  onRecall(text: string): void {
    const recall = toShareRecall(text)
    if (!recall) return
    const { usageId, fromMs, from } = recall
    const usage = this.#usages.get(usageId)
    if (!usage || from === this.#options.shares.nodeId || usage.window.fromMs !== fromMs) return
    if (usage.share.isHeld) this.#exchanges.requestSoon([usage])
  }

  /** Notes a request that ended and will be booked. Returns false where nothing counts it. */
  note(event: UsageEvent): boolean {
    // Another attempt of the same request follows, or has begun.
    if (this.#usages.size === 0 || event.outcome === 'failed_over') return false
    const { userId, keyId, accountId } = event
    const cost = costToCaller(event)
    // A payment by another party is none of the account's spending, but counts for the key.
    note(this.#usagesOf(userId), event, accountId === userId ? cost : 0n)
    note(this.#usagesOf(keyId), event, cost)
    const { organizationId } = event
    if (organizationId === null) return true
    const isPaid = accountId === organizationId
    const spent = isPaid ? (event.price ?? cost) : 0n
    note(this.#sharedUsages(organizationId, userId), event, spent)
    if (isPaid) note(this.#paidUsages(organizationId, userId), event, spent)
    return true
  }

  #usagesOf(subjectId: string): readonly WindowUsage[] {
    return this.#bySubject.get(subjectId) ?? none
  }

  #sharedUsages(organizationId: string, userId: string): WindowUsage[] {
    const ids = [organizationId, memberIn(organizationId, userId)]
    return ids.flatMap((id) => this.#usagesOf(id))
  }

  #paidUsages(organizationId: string, userId: string): WindowUsage[] {
    return [null, userId].flatMap((memberId) =>
      this.#usagesOf(toPaymentsId({ organizationId, memberId })),
    )
  }

  /** Drops a noted event that could not be written. */
  drop({ id, userId, keyId, organizationId }: Dropped): void {
    for (const usage of this.#usagesOf(userId)) usage.drop(id)
    for (const usage of this.#usagesOf(keyId)) usage.drop(id)
    if (organizationId === null) return
    for (const usage of this.#sharedUsages(organizationId, userId)) usage.drop(id)
    for (const usage of this.#paidUsages(organizationId, userId)) usage.drop(id)
  }

  /** Reads all entries again, states their shares, and evicts unused ones. Never rejects. */
  async refresh(): Promise<void> {
    const nowMs = this.#options.now()
    for (const usage of this.#usages.values()) {
      const isOld = nowMs - usage.lastUsedMs > evictAfterMs
      const isEvictable = isOld && usage.isIdle && !usage.share.isHeld
      if (isEvictable && !this.#reading.has(usage.id)) this.#evict(usage)
    }
    const usages = [...this.#usages.values()].filter(({ isKnown }) => isKnown)
    for (let from = 0; from < usages.length; from += maxBatch) {
      const some = usages.slice(from, from + maxBatch)
      await this.#read(some, readTimeoutMs).catch(this.#options.onError)
    }
    const clocks = this.#options.shares.clocks()
    const due = usages.filter(({ share }) => share.isDue(clocks))
    // A failure is reported by the exchange.
    await this.#exchanges.request(due).catch(() => undefined)
  }

  #evict(usage: WindowUsage): void {
    const { id, subjectId } = usage
    this.#usages.delete(id)
    const others = this.#usagesOf(subjectId).filter((other) => other !== usage)
    if (others.length > 0) this.#bySubject.set(subjectId, others)
    else this.#bySubject.delete(subjectId)
  }

  #countedLimitsOf({ userId, organizationId, limits }: Limited): CountedLimit[] {
    const nowMs = this.#options.now()
    const wallMs = this.#options.wallMs()
    const caller = {}
    const countedLimits = limits.windows.map((limit) => {
      const { id: subjectId, budget } = limit
      const id = budget?.usageId ?? subjectId
      let usage = this.#usages.get(id)
      if (!usage) {
        const { rule = monthInUtc, filter, payments } = budget ?? {}
        const of = { id, subjectId, userId, organizationId, rule, filter, payments }
        usage = new WindowUsage(of, { wallMs, nowMs })
        this.#usages.set(id, usage)
        this.#bySubject.set(subjectId, [...this.#usagesOf(subjectId), usage])
      }
      usage.lastUsedMs = nowMs
      usage.moveTo(wallMs)
      usage.addLimit(limit, caller)
      return { limit, usage }
    })
    for (const { usage } of countedLimits) usage.applyLimits()
    return countedLimits
  }

  /** Lets a request in where each limit on their number allows another one. */
  #admitCounted(limits: readonly CountedLimit[]): MaybePromise<WindowReservation> {
    // Unknown usage is never treated as zero.
    if (limits.some(({ usage }) => !usage.isKnown)) throw unavailable()
    const { shares, wallMs } = this.#options
    const full = limits.find(({ limit, usage }) =>
      isUsedUp(usage.inForce(limit), usage.certainOf('requests')),
    )
    if (full) throw refuseByRequests(full.usage.inForce(full.limit), full.usage.window, wallMs())
    const byRequests = limits.filter(({ limit }) => limit.requests !== null)
    const findShort = () => {
      const now = shares.clocks()
      return byRequests.find(({ usage }) => {
        usage.moveTo(now.wallMs)
        return usage.freeOf('requests', now) < 1n
      })
    }
    if (!findShort()) return this.#toReservation(limits)
    return this.#exchanges.obtain({
      usages: [...new Set(byRequests.map(({ usage }) => usage))],
      unit: 'requests',
      full: 1n,
      attempt: (isFinal) => {
        const short = findShort()
        if (!short) return { result: this.#toReservation(limits) }
        if (!isFinal) return undefined
        const { usage } = short
        // Of several limits the lowest one refuses.
        const tightest = byRequests
          .flatMap((one) => (one.usage === usage ? [usage.inForce(one.limit)] : []))
          .reduce((a, b) => ((b.requests ?? 0) < (a.requests ?? 0) ? b : a))
        throw refuseByRequests(tightest, usage.window, wallMs())
      },
    })
  }

  #toReservation(limits: readonly CountedLimit[]): WindowReservation {
    return new WindowReservation({ limits, exchanges: this.#exchanges })
  }

  /** Shares one reading among all waiting requests; after a failed one, requests fail at once for a while. */
  #firstRead(usage: WindowUsage): Promise<void> {
    const running = this.#reading.get(usage.id)
    if (running) return running
    if (this.#options.now() - this.#failedAtMs < retryAfterMs) return Promise.reject(unavailable())
    const reading = this.#read([usage], firstReadTimeoutMs)
      .catch((cause: unknown) => {
        this.#failedAtMs = this.#options.now()
        this.#options.onError(cause)
        throw unavailable(cause)
      })
      .finally(() => this.#reading.delete(usage.id))
    this.#reading.set(usage.id, reading)
    return reading
  }

  async #read(usages: readonly WindowUsage[], timeoutMs: number): Promise<void> {
    const wallMs = this.#options.wallMs()
    for (const usage of usages) usage.moveTo(wallMs)
    const usedBy = usages.map(toUsedBy)
    const unbooked = () => {
      const events = usages.flatMap((usage) => usage.unbooked)
      return [...new Map(events.map((event) => [event.id, event])).values()]
    }
    const { sums, bookedIds } = await this.#options.read({ usedBy, unbooked }, timeoutMs)
    for (const [index, usage] of usages.entries()) {
      const sum = sums.get(usage.id)
      const window = usedBy[index]?.window
      if (sum && window) usage.take(window, sum, bookedIds)
    }
  }
}

/** Notes a request in the usages that count it. */
function note(usages: readonly WindowUsage[], event: UsageEvent, cost: bigint): void {
  if (usages.length === 0) return
  const { model, budgetTags: tags } = event
  const tokens = BigInt(tokensRead(event.tokens) + tokensWritten(event.tokens))
  for (const usage of usages) if (usage.counts({ model, tags })) usage.note(event, { cost, tokens })
}

const isUsedUp = ({ requests }: WindowLimit, used: bigint) =>
  requests !== null && used >= BigInt(requests)

/** Copies the use as it is now: its window may be another one when the sums arrive. */
const toUsedBy = ({
  id,
  subjectId,
  userId,
  organizationId,
  filter,
  payments,
  window,
}: WindowUsage): UsedBy => ({
  id,
  subjectId,
  userId,
  organizationId,
  filter,
  payments,
  window,
})

import {
  grantShare,
  noAmounts,
  shareUnits,
  toAmounts,
  type Amounts,
  type NodeShare,
  type ShareGrant,
  type ShareUnit,
} from '../ledger/shares/grant-share'
import type { ShareDecision } from '../ledger/shares/share-exchange'
import { RecentSpend } from '../ledger/recent-spend'

/** The clocks of a process: a machine that slept, or whose clock was set, notices by one of them. */
export interface Clocks {
  monotonicMs: number
  wallMs: number
}

/** A request that waits for a part of a share. */
export interface ShareDemand {
  unit: ShareUnit
  /** The amount that it asks for. */
  full: bigint
  /** The turn in which it began to wait, once it was stated. */
  turn: bigint | undefined
}

type ShareLimits = Readonly<Record<ShareUnit, bigint | null>>

/** The use of a share by its node, beyond what is booked. */
interface OwnUse {
  bookedAmounts: Amounts
  used: Amounts
}

/** A statement of one share in an exchange. */
interface Statement extends OwnUse {
  nodeId: string
  shares: readonly NodeShare[]
  turn: bigint
  /** The database's clock. */
  nowMs: number
  /** When the exchange was sent. */
  sentAt: Clocks
}

/** Other nodes take the share of a node that has not stated it for so long, by the database's clock. */
const deadAfterMs = 120_000
/** And only once this node itself has watched that for so long: no single clock decides. */
const watchedMs = 60_000
/** After a longer time without an exchange it has not watched: the database may have been away for all nodes. */
const maxGapMs = 40_000
/** A node that has not stated its share for so long uses nothing more of it. */
const validMs = 60_000
/** A share is stated at least so often. */
const stateEveryMs = 30_000
/** The pause after which bookings of its own are a reason to state it. */
const settleMs = 9000
/** Requests like the first one for which a node gets the means at once. */
const firstRequests = 4n

/** More than any amount. */
const unlimited = 2n ** 62n
const none: ShareLimits = { requests: null, spent: null, tokens: null }

/**
 * This node's share of the limits on one usage in a window: the amounts that it may have used beyond what is booked.
 * It serves requests out of it from memory.
 */
export class WindowShare {
  limits = none
  /** Requests that wait for more, in their order. */
  readonly waiting = new Set<ShareDemand>()
  /** The amounts that other nodes had reserved at the last exchange, less what they have booked since. */
  others = noAmounts
  /** Whether what the waiting requests lacked at the last exchange is certain. */
  isCertain = false
  #reserved = noAmounts
  /** The number of times that a limit was lowered: what was decided before that grants nothing. */
  #lowerings = 0
  /** As the database has it, at least. */
  #stated: Pick<NodeShare, 'reserved' | 'waitsSince'> | undefined
  #statedAt: Clocks = { monotonicMs: -Infinity, wallMs: -Infinity }
  /** The last turn of each other node, and when this node first saw it. */
  #watches = new Map<string, { turn: bigint; sinceMs: number }>()
  /** The turns in which other nodes last stated their share, of those that did not answer in time since. */
  readonly #silent = new Map<string, bigint>()
  readonly #recent = {
    requests: new RecentSpend(),
    spent: new RecentSpend(),
    tokens: new RecentSpend(),
  }
  /** The last amounts that requests waited for. */
  readonly #lastFull: Record<ShareUnit, bigint> = { ...noAmounts }

  /** Whether the database may have a share of this node, or requests wait for one. */
  get isHeld(): boolean {
    return this.#stated !== undefined || this.waiting.size > 0
  }

  /** Whether other nodes may wait for this one to say that it waits no more. */
  get isWaitingStated(): boolean {
    return this.waiting.size === 0 && (this.#stated?.waitsSince ?? null) !== null
  }

  /** Whether it is to be stated again. */
  isDue({ monotonicMs }: Clocks): boolean {
    const stated = this.#stated
    if (!stated) return false
    const ageMs = monotonicMs - this.#statedAt.monotonicMs
    if (ageMs >= stateEveryMs || this.isWaitingStated) return true
    return (
      ageMs >= settleMs && shareUnits.some((unit) => stated.reserved[unit] > this.#reserved[unit])
    )
  }

  /** Sets the limits. A lower one leaves nothing unused: each node asks for its share again. */
  limitTo(limits: ShareLimits, used: Amounts): void {
    const isLower = (unit: ShareUnit) => {
      const [now, before] = [limits[unit], this.limits[unit]]
      return now !== null && (before === null || now < before)
    }
    if (shareUnits.some(isLower)) {
      this.#lowerings += 1
      this.#reserved = toAmounts((unit) =>
        isLower(unit) ? min(this.#reserved[unit], used[unit]) : this.#reserved[unit],
      )
    }
    this.limits = limits
  }

  /** Returns the amount that may be used at once. */
  freeOf(unit: ShareUnit, { bookedAmounts, used }: OwnUse, at: Clocks): bigint {
    const limit = this.limits[unit]
    const { monotonicMs, wallMs } = this.#statedAt
    const ageMs = Math.max(at.monotonicMs - monotonicMs, at.wallMs - wallMs)
    if (limit === null) return unlimited
    if (ageMs > validMs) return 0n
    return min(this.#reserved[unit] - used[unit], limit - bookedAmounts[unit] - used[unit])
  }

  /** Notes a request that was used, by which the share is sized. */
  noteUse(use: Amounts, nowMs: number): void {
    for (const unit of shareUnits) this.#recent[unit].note(use[unit], nowMs)
  }

  /** Takes over that the database has booked `own` of this node's use, and `all` of all nodes'. */
  onBooked(own: Amounts, all: Amounts): void {
    this.#reserved = toAmounts((unit) => positive(this.#reserved[unit] - own[unit]))
    this.others = toAmounts((unit) => positive(this.others[unit] - positive(all[unit] - own[unit])))
  }

  /** Begins another window, of which this node has no share yet. */
  reset(): void {
    this.#reserved = noAmounts
    this.#stated = undefined
    this.#watches.clear()
    this.others = noAmounts
    this.isCertain = false
    for (const demand of this.waiting) demand.turn = undefined
  }

  /** Marks the nodes that have not answered a request: what they have is not waited for until they do. */
  noteSilent({ turn: sinceTurn = 0n }: ShareDemand): void {
    for (const [nodeId, { turn }] of this.#watches)
      if (turn < sinceTurn) this.#silent.set(nodeId, turn)
  }

  /**
   * Decides about the share. What is lowered counts from now on, what is raised once `apply` says that the decision is
   * stored.
   */
  decide(statement: Statement): ShareDecision & { apply: () => void } {
    const { used, nodeId, turn, nowMs, sentAt, shares } = statement
    this.#watch(shares, sentAt)
    for (const demand of this.waiting) {
      demand.turn ??= turn
      this.#lastFull[demand.unit] = demand.full
    }
    const grant = grantShare(shares, this.#toTerms(statement), {
      nodeId,
      turn,
      nowMs,
      isDead: (share) => this.#isDead(share, { nowMs, sentAt }),
      isSilent: (share) => this.#silent.get(share.nodeId) === share.turn,
    })
    this.#reserved = toAmounts((unit) => positive(used[unit]) + grant.keptAmounts[unit])
    this.others = grant.others
    this.isCertain = false
    // Whether it is stored or not, the database has at least this.
    this.#stated ??= { reserved: noAmounts, waitsSince: null }
    const lowerings = this.#lowerings
    const apply = () => this.#apply(grant, { sentAt, isLowered: lowerings !== this.#lowerings })
    return { share: grant.share, deadNodes: grant.deadNodes, needsOthers: grant.needsOthers, apply }
  }

  #toTerms({ bookedAmounts, used, sentAt }: Statement) {
    const free = toAmounts((unit) => this.freeOf(unit, { bookedAmounts, used }, sentAt))
    const demanded = toAmounts((unit) => this.#demanded(unit))
    const turns = [...this.waiting].map(({ turn }) => turn ?? 0n)
    const soon = toAmounts((unit) => this.#soon(unit, sentAt))
    return {
      limits: this.limits,
      bookedAmounts,
      used,
      // What is not needed soon goes back.
      free: toAmounts((unit) => positive(min(free[unit], max(soon[unit], demanded[unit])))),
      needs: toAmounts((unit) => positive(demanded[unit] - positive(free[unit]))),
      soon,
      waitsSince: turns.length === 0 ? undefined : turns.reduce(min),
    }
  }

  /** The amount that all waiting requests ask for. */
  #demanded(unit: ShareUnit): bigint {
    let sum = 0n
    for (const demand of this.waiting) if (demand.unit === unit) sum += demand.full
    return sum
  }

  /** The amount that will be needed until it is stated again. */
  #soon(unit: ShareUnit, { monotonicMs }: Clocks): bigint {
    const recent = this.#recent[unit]
    recent.note(0n, monotonicMs)
    // A hold is more than what it costs in the end.
    const recentAmount = recent.amount > 0n ? max(recent.amount, this.#lastFull[unit]) : 0n
    return max(recentAmount, firstRequests * this.#demanded(unit))
  }

  #apply(
    { share, grantedAmounts, isCertain }: ShareGrant,
    { sentAt, isLowered }: { sentAt: Clocks; isLowered: boolean },
  ): void {
    this.#stated = share
    this.#statedAt = sentAt
    if (isLowered) return
    this.#reserved = toAmounts((unit) => this.#reserved[unit] + grantedAmounts[unit])
    this.isCertain = isCertain
  }

  /** Notes when each other node last stated its share. */
  #watch(shares: readonly NodeShare[], { monotonicMs }: Clocks): void {
    const isWatching = monotonicMs - this.#statedAt.monotonicMs <= maxGapMs
    this.#watches = new Map(
      shares.map(({ nodeId, turn }) => {
        const watch = isWatching ? this.#watches.get(nodeId) : undefined
        return [nodeId, watch?.turn === turn ? watch : { turn, sinceMs: monotonicMs }]
      }),
    )
  }

  #isDead({ nodeId, statedAtMs }: NodeShare, at: { nowMs: number; sentAt: Clocks }): boolean {
    const sinceMs = this.#watches.get(nodeId)?.sinceMs ?? Infinity
    return at.nowMs - statedAtMs > deadAfterMs && at.sentAt.monotonicMs - sinceMs >= watchedMs
  }
}

const positive = (amount: bigint): bigint => (amount > 0n ? amount : 0n)
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other)
const max = (one: bigint, other: bigint): bigint => (one > other ? one : other)

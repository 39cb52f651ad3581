import { heldMs, slotDeadMs, windowDeadMs, type ClusterView } from './slice-document'
import { settleMs, type SliceStore, type StoreMoment } from './slice-store'
import { windowMs } from '../sliding-window'
import type { Clock } from '../../platform/clock'
import { Periodic } from '../../platform/periodic'

const beatMs = 1000
/** A node that has not reported for so long takes no part in the division of limits. */
const runningMs = 10_000
/** A node that has not reported for so long is not waited for. */
const silentMs = 5000
/** The contact that a node needs before it believes that another one is dead, not the store. */
const sureAfterMs = 10_000
/** Calls to the store fail sooner than this: where one took longer, this process stood still. */
const stallMs = 5000
/** The answers that the round trip is measured by. */
const maxRoundTrips = 5

/**
 * How a node may use limits:
 *
 * - `shared`: as the store grants;
 * - `held`: the store is unavailable: what the node has;
 * - `lowered`: unavailable for half a minute: at most its equal share of what it has, so that what it uses beyond its
 *   share has expired before others have it;
 * - `alone`: unavailable for so long that others may have what this node had: its equal share.
 */
export type LimitMode = 'shared' | 'held' | 'lowered' | 'alone'

interface Options {
  store: SliceStore
  node: string
  /** A node that ended before this one began. */
  predecessor: string | undefined
  /** The store has lost its slices, or this node's. */
  onLost: () => void
  clock: Clock
}

/** This node's contact with the store, and through it with the other nodes. */
export class ClusterContact implements AsyncDisposable {
  readonly #options: Options
  readonly #beating: Periodic
  #epoch: string | undefined
  /** Whether the store has begun anew since this node started. */
  #hasKnownOther = false
  #seenAtMs: ReadonlyMap<string, number> = new Map()
  #nodes = 1
  /** Of the last answers, in milliseconds. */
  #roundTripsMs: number[] = []
  #contactAtMs: number
  /** Since when it has been in contact without a break. */
  #sinceMs: number
  /** The first contact, by the store's clock. */
  #firstAtMs: number | undefined
  mode: LimitMode = 'held'
  /** Whether the store did not answer in time the last time. */
  isLate = false
  /** Nodes state their slices to a store that has lost them: it grants nothing yet. */
  isSettling = false

  constructor(options: Options) {
    this.#options = options
    this.#contactAtMs = options.clock.monotonicMs()
    this.#sinceMs = this.#contactAtMs
    this.#beating = new Periodic({
      intervalMs: beatMs,
      run: () => this.beat(),
      clock: options.clock,
    })
  }

  /** The nodes that run, as last known; at least 1. */
  get nodes(): number {
    return this.#nodes
  }

  /** The round trip to the store, in milliseconds: the fastest of the last answers; 0 before the first. */
  get roundTripMs(): number {
    return this.#roundTripsMs.length > 0 ? Math.min(...this.#roundTripsMs) : 0
  }

  /**
   * Whether this process stood still for so long that others may have what it had: it asks the store before it
   * admits anything.
   */
  get wasStalled(): boolean {
    return this.mode === 'shared' && this.#options.clock.monotonicMs() - this.#contactAtMs >= heldMs
  }

  /** This node's equal share of a limit. */
  shareOf(limit: number): number {
    return Math.max(1, Math.floor(limit / this.#nodes))
  }

  /** Reports this node, and reads which others run. Never rejects. */
  async beat(): Promise<void> {
    const { store, node, clock } = this.#options
    const sentMs = clock.monotonicMs()
    try {
      const beat = await store.beat(node, this.#epoch)
      this.#seenAtMs = beat.seenAtMs
      // A store that came back empty has not heard of the other nodes yet.
      this.onMoment(beat, sentMs)
      const running = [...beat.seenAtMs].filter(
        ([name, atMs]) => beat.nowMs - atMs < runningMs && !this.#hasEnded(name, atMs),
      )
      const isSure = !this.isSettling && clock.monotonicMs() - this.#sinceMs >= sureAfterMs
      this.#nodes = Math.max(1, isSure ? running.length : Math.max(this.#nodes, running.length))
    } catch {
      this.onFailure(sentMs)
    }
  }

  /** The store has answered what was sent at that time: this process may have stood still since. */
  onMoment({ nowMs: storeMs, epoch, sinceMs, hasLostSlices }: StoreMoment, sentMs: number): void {
    const { clock, onLost } = this.#options
    const nowMs = clock.monotonicMs()
    this.#roundTripsMs = [...this.#roundTripsMs, nowMs - sentMs].slice(-maxRoundTrips)
    const brokenMs = nowMs - this.#contactAtMs
    const isLost = this.#epoch !== undefined && this.#epoch !== epoch
    this.#hasKnownOther ||= isLost
    if (brokenMs > sureAfterMs) this.#sinceMs = nowMs
    this.#contactAtMs = sentMs
    this.#epoch = epoch
    this.#firstAtMs ??= storeMs
    this.isLate = false
    // Called before the mode changes: slices are what they were while the store was away.
    if (isLost || brokenMs >= heldMs) onLost()
    this.mode = 'shared'
    this.isSettling = (hasLostSlices || this.#hasKnownOther) && storeMs < sinceMs + settleMs
  }

  /** The store has not answered what was sent at that time. */
  onFailure(sentMs: number): void {
    this.isLate = true
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - sentMs >= stallMs) return
    const brokenMs = nowMs - this.#contactAtMs
    if (brokenMs >= windowDeadMs) this.mode = 'alone'
    else if (brokenMs >= heldMs) this.mode = 'lowered'
    else if (this.#options.store.isAway) this.mode = 'held'
  }

  /** Returns the state that decisions about windows, or about slots, are based on. */
  view({ nowMs }: StoreMoment, isWindow: boolean): ClusterView {
    const { node, clock } = this.#options
    const isSure = clock.monotonicMs() - this.#sinceMs >= sureAfterMs
    const deadMs = isWindow ? windowDeadMs : slotDeadMs
    const isDead = (name: string, statedAtMs: number) => {
      const endedAtMs = this.#firstAtMs ?? nowMs
      if (this.#hasEnded(name, statedAtMs)) return !isWindow || nowMs - endedAtMs > windowMs
      return isSure && nowMs - this.#lifeOf(name, statedAtMs) > deadMs
    }
    const isSilent = (name: string, statedAtMs: number) =>
      this.#hasEnded(name, statedAtMs) || nowMs - this.#lifeOf(name, statedAtMs) > silentMs
    return { nowMs, node, nodes: this.#nodes, isDead, isSilent }
  }

  /**
   * The last sign of life of a node, by the store's clock. A statement is one too: reports may have been lost, and a node
   * that crashed in its first second has made none.
   */
  #lifeOf(name: string, statedAtMs: number): number {
    return Math.max(this.#seenAtMs.get(name) ?? -Infinity, statedAtMs)
  }

  /**
   * Whether a node is this one's predecessor: its running requests ended with it, and what it used expires a minute later. Not
   * if it gave a sign of life since: a copy of its data directory is in use.
   */
  #hasEnded(name: string, lifeAtMs: number): boolean {
    if (name !== this.#options.predecessor || this.#firstAtMs === undefined) return false
    return this.#lifeOf(name, lifeAtMs) <= this.#firstAtMs
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#beating[Symbol.asyncDispose]()
    await this.#options.store.leave(this.#options.node).catch(() => undefined)
  }
}

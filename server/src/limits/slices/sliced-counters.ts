import { ClusterContact } from './cluster-contact'
import type { LocalSlice } from './local-slice'
import { LocalSlices } from './local-slices'
import { sliceTimeoutsFor, type SliceTimeouts } from './slice-timeouts'
import { readUse } from './read-use'
import { SliceExchanges } from './slice-exchanges'
import { refuseSlot, refuseWindow, sooner } from './slice-refusal'
import { settleMs, type Recall, type SliceStore } from './slice-store'
import type { LimitBucket } from '../caller-limits'
import { longer, type BucketUse, type Counters, type CounterTake } from '../counters'
import type { Demand, LimitRefusal, LimitBuckets } from '../counters'
import { MemoryCounters } from '../memory-counters'
import { windowMs } from '../sliding-window'
import { systemClock, type Clock } from '../../platform/clock'
import type { MaybePromise } from '../../platform/maybe-promise'
import { Periodic } from '../../platform/periodic'
import { withTimeout } from '../../platform/with-timeout'

interface Options {
  store: SliceStore
  /** This node's name among those that share the store. */
  node: string
  /** The name of the process before, which has ended, if it had one. */
  predecessor?: string | undefined
  clock?: Clock
}

const maxPauseMs = 16
/** The pause between two attempts while a store that has lost its slices grants nothing. Milliseconds. */
const settlePauseMs = 100
const sweepMs = 10_000

/**
 * Counts for all nodes that share a store. A node has a slice of each limit and counts in it from memory; it asks the
 * store only where its slice does not suffice. All slices together never exceed the limit, so neither does what the
 * nodes admit, however the store fails: without it each node continues with what it has.
 */
export class SlicedCounters implements Counters, AsyncDisposable {
  readonly #options: Options & { clock: Clock }
  readonly #own: MemoryCounters
  readonly #cluster: ClusterContact
  readonly #exchanges: SliceExchanges
  readonly #slices: LocalSlices
  readonly #sweeping: Periodic
  #isStopped = false

  constructor({ clock = systemClock, ...options }: Options) {
    const { store, node, predecessor } = options
    this.#options = { ...options, clock }
    const now = clock.monotonicMs
    this.#own = new MemoryCounters(now, {
      unitsOf: (bucket, weight) => this.#unitsOf(bucket, weight),
      unassignedOf: ({ id }) => this.#slices.get(id)?.unassigned ?? 0,
      onFreed: (at) => this.#onFreed(at),
    })
    this.#slices = new LocalSlices(this.#own)
    const onLost = () => this.#restate()
    const cluster = new ClusterContact({ store, node, predecessor, onLost, clock })
    this.#cluster = cluster
    this.#exchanges = new SliceExchanges({
      store,
      node,
      now,
      useOf: (slice) => this.#slices.useOf(slice),
      isStopped: () => this.#isStopped,
      view: (moment, isWindow) => cluster.view(moment, isWindow),
      onMoment: (moment, sentMs) => {
        cluster.onMoment(moment, sentMs)
        return !cluster.isSettling
      },
      onFailure: (sentMs) => cluster.onFailure(sentMs),
    })
    this.#sweeping = new Periodic({ intervalMs: sweepMs, run: () => this.#sweep(), clock })
  }

  /** Reports this node to the store, so that others know it. Never rejects. */
  async start(): Promise<void> {
    await this.#cluster.beat()
  }

  /** The store that the nodes share. While it is away, this node keeps to what it has. */
  get store(): Pick<SliceStore, 'kind' | 'isAway'> {
    return this.#options.store
  }

  /** Units of limits since the start that this node took without a grant, as the store did not answer in time. */
  get assumedUnits(): number {
    return this.#slices.assumedUnits
  }

  get #timeouts(): SliceTimeouts {
    return sliceTimeoutsFor(this.#cluster.roundTripMs)
  }

  take(demand: Demand): MaybePromise<CounterTake> {
    const refusal = this.#knownRefusal(demand) ?? this.#own.refuse(demand)
    if (!refusal && (demand.weight > 0 || this.#slices.knows(demand)))
      return this.#own.grant(demand)
    if (refusal && this.#isFinal(refusal, demand)) return refusal
    return this.#takeMore(demand)
  }

  /** The use on all nodes; on this one while the store is unavailable. */
  async readUse(at: LimitBuckets): Promise<BucketUse[]> {
    const own = this.#own.readUse(at)
    if (this.store.isAway) return own
    return readUse(at, {
      ...this.#options,
      own,
      view: (moment, isWindow) => this.#cluster.view(moment, isWindow),
    }).catch(() => own)
  }

  /** Gives units away that another node needs, and states what this one uses. */
  onRecall({ bucket, units, from }: Recall): void {
    const slice = this.#slices.get(bucket)
    if (!slice || from === this.#options.node) return
    if (units > 0) this.#slices.noteRecall(slice, units, this.#options.clock.monotonicMs())
    void this.#exchanges.request(slice)
  }

  /** Takes after an exchange with the store, and another one once other nodes have given back what is idle there. */
  async #takeMore(demand: Demand): Promise<CounterTake> {
    const { monotonicMs: now, sleep } = this.#options.clock
    const startedMs = now()
    const lateUntilMs = startedMs + (this.#cluster.isLate ? 0 : this.#timeouts.firstMs)
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const isDone = !this.store.isAway && (await this.#exchange(demand))
      if (!isDone) {
        const lateTake = this.#takeLate(demand, lateUntilMs)
        if (lateTake) return lateTake
        await sleep(pauseMs)
        continue
      }
      if (this.#cluster.isSettling) {
        const aloneTake = this.#takeAlone(demand)
        // Of a limit of which it has units, this node has all that is certain; of another one the store grants soon.
        const isFinal = aloneTake.kind === 'granted' || !this.#slices.hasNothing(demand)
        if (isFinal || now() > startedMs + settleMs + this.#timeouts.recallMs) return aloneTake
        await sleep(settlePauseMs)
        continue
      }
      if (!this.#own.refuse(demand)) return this.#own.grant(demand)
      const { recallMs, moveMs } = this.#timeouts
      const maxMs = this.#slices.canOthersYield(demand)
        ? recallMs
        : this.#slices.mayFit(demand)
          ? moveMs
          : 0
      if (now() + pauseMs > startedMs + maxMs) return this.#refuse(demand)
      await sleep(pauseMs)
    }
  }

  /** Exchanges the slices of which the demand needs more. Resolves with false where the store does not answer. */
  async #exchange(demand: Demand): Promise<boolean> {
    const short = this.#slices.shortOf(demand)
    for (const { slice, weight } of short) {
      slice.isWeighted ||= weight > 1
      slice.waiting.push(weight)
    }
    const exchanges = Promise.all(short.map(({ slice }) => this.#exchanges.request(slice)))
    // Without the store this node admits its share of a limit that it has no slice of; of others it can only refuse.
    const mayShare = short.every(({ slice }) => slice.statedAtMs === -Infinity)
    const { exchangeMs, shareMs, firstMs } = this.#timeouts
    const maxMs = !mayShare ? exchangeMs : this.#cluster.isLate ? shareMs : firstMs
    const exchangeResults = await withTimeout(exchanges, maxMs, this.#options).catch(() => [false])
    for (const { slice, weight } of short) slice.waiting.splice(slice.waiting.indexOf(weight), 1)
    return !exchangeResults.includes(false)
  }

  /** Takes without the store: of limits that this node has no slice of, its equal share. */
  #takeAlone(demand: Demand): CounterTake {
    const { windows, running, weight } = demand
    for (const bucket of windows) this.#assumeShare(this.#slices.of(bucket, true), weight)
    for (const bucket of running) this.#assumeShare(this.#slices.of(bucket, false), 1)
    return this.#own.take(demand)
  }

  /** Takes without a store that is late. Undefined where the store has to be queried once more. */
  #takeLate(demand: Demand, untilMs: number): CounterTake | undefined {
    const lateTake = this.#takeAlone(demand)
    const isFinal = lateTake.kind === 'granted' || this.store.isAway || !this.#slices.mayFit(demand)
    if (isFinal) return lateTake
    // It fits by what all nodes use, and this node only lacks a grant.
    return this.#options.clock.monotonicMs() >= untilMs ? sooner(lateTake) : undefined
  }

  #assumeShare(slice: LocalSlice, weight: number): void {
    if (slice.statedAtMs > -Infinity || slice.units > 0) return
    this.#slices.assume(slice, Math.max(weight, this.#cluster.shareOf(slice.limit)))
  }

  #refuse({ windows, running, weight }: Demand): CounterTake {
    let refusal: LimitRefusal | undefined
    for (const bucket of windows) {
      const slice = this.#slices.of(bucket, true)
      if (this.#slices.useOf(slice).used + weight <= slice.units) continue
      const own = this.#own.expiring(bucket.id)
      const one = refuseWindow(bucket, weight, { own, otherSlices: slice.otherSlices })
      const untilMs = this.#options.clock.monotonicMs() + one.waitMs
      const isCertain = !slice.isWeighted && one.reading.remaining === 0
      if (isCertain) slice.full = { reading: one.reading, untilMs }
      refusal = longer(refusal, one)
    }
    if (refusal) return refusal
    const full = running.find((bucket) => {
      const slice = this.#slices.of(bucket, false)
      return this.#slices.useOf(slice).used >= slice.units
    })
    return full ? refuseSlot(full) : this.#own.take({ windows, running, weight })
  }

  #knownRefusal({ windows, weight }: Demand): LimitRefusal | undefined {
    if (weight !== 1) return undefined
    let refusal: LimitRefusal | undefined
    for (const { id, limit } of windows) {
      const slice = this.#slices.get(id)
      if (!slice?.full || slice.limit !== limit) continue
      const waitMs = Math.ceil(slice.full.untilMs - this.#options.clock.monotonicMs())
      if (waitMs <= 0) {
        slice.full = undefined
        continue
      }
      const reading = { ...slice.full.reading, resetMs: waitMs }
      refusal = longer(refusal, { kind: 'refused', by: 'window', reading, waitMs })
    }
    return refusal
  }

  /** Whether no exchange can help: it never fits, or is known not to fit yet. */
  #isFinal({ waitMs, by, reading }: LimitRefusal, { weight }: Demand): boolean {
    if (waitMs === Infinity) return true
    return by === 'window' && weight === 1 && this.#slices.get(reading.id)?.full !== undefined
  }

  #unitsOf({ id, limit }: LimitBucket, weight: number): number {
    const slice = this.#slices.get(id)
    if (!slice) return 0
    if (slice.limit !== limit) slice.limit = limit
    if (weight > 0) slice.isUsed = true
    const { mode, wasStalled } = this.#cluster
    if (wasStalled) return 0
    if (mode === 'shared' || mode === 'held') return slice.units
    const share = Math.min(limit, Math.max(weight, this.#cluster.shareOf(limit)))
    return mode === 'alone' ? share : Math.min(slice.units, share)
  }

  /** Gives freed units to another node at once if that node waits for them. */
  #onFreed(at: LimitBuckets): void {
    if (!this.#slices.hasRecalls) return
    for (const slice of this.#slices.recalledOf(at, this.#options.clock.monotonicMs()))
      void this.#exchanges.request(slice)
  }

  /** States all slices, as the store has lost them. */
  #restate(): void {
    for (const slice of this.#slices.values()) {
      slice.units = this.#unitsOf({ id: slice.bucket, limit: slice.limit }, 0)
      slice.full = undefined
      void this.#exchanges.request(slice)
    }
  }

  /** States slices that the store would otherwise forget, and gives back those that no request asked for in a minute. */
  async #sweep(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs()
    for (const slice of this.#slices.values()) {
      if (slice.isUsed) slice.usedAtMs = nowMs
      slice.isUsed = false
    }
    if (this.store.isAway) return
    const due = [...this.#slices.values()].filter(
      ({ statedAtMs }) => nowMs - statedAtMs >= windowMs,
    )
    await Promise.all(
      due.map(async (slice) => {
        const isUnused = () =>
          !slice.isUsed &&
          nowMs - slice.usedAtMs >= windowMs &&
          this.#slices.useOf(slice).used === 0 &&
          slice.waiting.length === 0
        if (isUnused()) slice.units = 0
        // A slice that the store still lists is stated again: other nodes could not recall it from a node that forgot it.
        const isStated = await this.#exchanges.request(slice)
        if (!isStated || !isUnused() || slice.units > 0) return
        this.#slices.delete(slice)
      }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    await this.#sweeping[Symbol.asyncDispose]()
    if (!this.store.isAway) {
      await Promise.all([...this.#slices.values()].map((slice) => this.#exchanges.request(slice)))
    }
    await this.#cluster[Symbol.asyncDispose]()
  }
}

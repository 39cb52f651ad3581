import {
  longer,
  runningWaitMs,
  tighter,
  type Counters,
  type Demand,
  type Granted,
  type LimitBuckets,
  type BucketReading,
  type LimitRefusal,
  type CounterTake,
  type BucketUse,
} from './counters'
import { SlidingWindow, windowMs } from './sliding-window'
import type { LimitBucket } from './caller-limits'

/** The part of each limit that this process may use. */
export interface LimitShares {
  /** The units that it may have in use. */
  unitsOf: (bucket: LimitBucket, weight: number) => number
  /** Units of the limit beyond them that it may still get. */
  unassignedOf: (bucket: LimitBucket) => number
  /** Units of these limits were given back. */
  onFreed: (at: LimitBuckets) => void
}

const fullLimits: LimitShares = {
  unitsOf: ({ limit }) => limit,
  unassignedOf: () => 0,
  onFreed: () => undefined,
}

/** Counts in this process. Buckets that were not used for a minute or two are evicted. */
export class MemoryCounters implements Counters {
  readonly #now: () => number
  readonly #shares: LimitShares
  readonly #windows = new Map<string, SlidingWindow>()
  readonly #running = new Map<string, number>()
  #sweepAtMs = -Infinity

  /** `now` is monotonic, in milliseconds. */
  constructor(now: () => number = () => performance.now(), shares: LimitShares = fullLimits) {
    this.#now = now
    this.#shares = shares
  }

  /** The number of buckets in memory. */
  get size(): number {
    return this.#windows.size + this.#running.size
  }

  take(demand: Demand): CounterTake {
    return this.refuse(demand) ?? this.grant(demand)
  }

  /** Counts a demand unconditionally. */
  grant(demand: Demand): Granted {
    const nowMs = this.#now()
    this.#sweep(nowMs)
    // The clock never steps back here, so that all windows have one slot for it.
    let slot = 0
    for (const { id } of demand.windows) slot = this.#window(id).add(demand.weight, nowMs)
    for (const { id } of demand.running) this.#running.set(id, (this.#running.get(id) ?? 0) + 1)
    return new Grant(this, demand, slot)
  }

  /** The window of a demand with the least left, for its grant. */
  tightest({ windows }: Demand): BucketReading | undefined {
    const nowMs = this.#now()
    let tightest: BucketReading | undefined
    for (const bucket of windows) tightest = tighter(tightest, this.#readingOf(bucket, nowMs))
    return tightest
  }

  /** Ends a grant that was counted in a slot; `delta` is the use beyond the weight. */
  end({ windows, running }: Demand, slot: number, delta: number): void {
    for (const { id } of running) this.#leave(id)
    if (delta !== 0) {
      const nowMs = this.#now()
      for (const { id } of windows) this.#window(id).correct(slot, delta, nowMs)
    }
    if (delta < 0 || running.length > 0) this.#shares.onFreed({ windows, running })
  }

  /** Returns the refusal of a demand, undefined where it fits. Counts nothing. */
  refuse({ windows, weight, running }: Demand): LimitRefusal | undefined {
    const nowMs = this.#now()
    let refusal: LimitRefusal | undefined
    for (const bucket of windows) {
      const waitMs = weight && this.#waitMs(bucket, weight, nowMs)
      if (waitMs === 0) continue
      const reading = this.#readingOf(bucket, nowMs)
      refusal = longer(refusal, { kind: 'refused', by: 'window', reading, waitMs })
    }
    for (const bucket of refusal ? [] : running) {
      const { id, limit } = bucket
      const used = this.#running.get(id) ?? 0
      if (used < this.#shares.unitsOf(bucket, 1)) continue
      const reading = { id, limit, used, remaining: 0, resetMs: runningWaitMs }
      return { kind: 'refused', by: 'running', reading, waitMs: runningWaitMs }
    }
    return refusal
  }

  readUse({ windows, running }: LimitBuckets): BucketUse[] {
    const nowMs = this.#now()
    return [
      ...windows.map(({ id }) => {
        const window = this.#windows.get(id)
        return { used: window?.used(nowMs) ?? 0, resetMs: window?.resetMs(nowMs) ?? 0 }
      }),
      ...running.map(({ id }) => ({ used: this.#running.get(id) ?? 0, resetMs: 0 })),
    ]
  }

  /** When the units in use in a window become free: `[inMs, units]`, rising. */
  expiring(id: string): (readonly [number, number])[] {
    return this.#windows.get(id)?.expiring(this.#now()) ?? []
  }

  /** The places in use. */
  runningOf(id: string): number {
    return this.#running.get(id) ?? 0
  }

  #waitMs(bucket: LimitBucket, weight: number, nowMs: number): number {
    const waitMs = this.#window(bucket.id).waitMs(
      weight,
      this.#shares.unitsOf(bucket, weight),
      nowMs,
    )
    // A share may grow.
    return waitMs === Infinity && weight <= bucket.limit ? windowMs : waitMs
  }

  #readingOf(bucket: LimitBucket, nowMs: number): BucketReading {
    const window = this.#window(bucket.id)
    const { id, limit } = bucket
    const used = window.used(nowMs)
    const units = this.#shares.unitsOf(bucket, 0) + this.#shares.unassignedOf(bucket)
    return { id, limit, used, remaining: Math.max(0, units - used), resetMs: window.resetMs(nowMs) }
  }

  #window(id: string): SlidingWindow {
    const knownWindow = this.#windows.get(id)
    if (knownWindow) return knownWindow
    const window = new SlidingWindow()
    this.#windows.set(id, window)
    return window
  }

  #leave(id: string): void {
    const remaining = (this.#running.get(id) ?? 1) - 1
    if (remaining > 0) this.#running.set(id, remaining)
    else this.#running.delete(id)
  }

  #sweep(nowMs: number): void {
    if (nowMs < this.#sweepAtMs) return
    this.#sweepAtMs = nowMs + windowMs
    for (const [id, window] of this.#windows) {
      if (window.used(nowMs) === 0) this.#windows.delete(id)
    }
  }
}

/** A class, as every request has some: closures would be as many objects again. */
class Grant implements Granted {
  readonly kind = 'granted'
  readonly #counters: MemoryCounters
  readonly #demand: Demand
  readonly #slot: number
  #isOver = false

  constructor(counters: MemoryCounters, demand: Demand, slot: number) {
    this.#counters = counters
    this.#demand = demand
    this.#slot = slot
  }

  get tightest(): BucketReading | undefined {
    return this.#counters.tightest(this.#demand)
  }

  end(delta: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#counters.end(this.#demand, this.#slot, delta)
  }
}

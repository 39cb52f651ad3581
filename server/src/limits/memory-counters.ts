import {
  longer,
  runningWaitMs,
  tighter,
  type Counters,
  type Demand,
  type Granted,
  type Look,
  type BucketReading,
  type LimitRefusal,
  type CounterTake,
  type BucketUse,
} from './counters'
import { SlidingWindow, windowMs } from './sliding-window'
import type { LimitBucket } from './caller-limits'

/** Counts in this process. Buckets that were not used for a minute or two are evicted. */
export class MemoryCounters implements Counters {
  readonly #now: () => number
  readonly #windows = new Map<string, SlidingWindow>()
  readonly #running = new Map<string, number>()
  #sweepAtMs = -Infinity

  /** `now` is monotonic, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** The number of buckets in memory. */
  get size(): number {
    return this.#windows.size + this.#running.size
  }

  /** `nodes` share each limit; each can take any one request that the whole limit can. */
  take(demand: Demand, nodes = 1): CounterTake {
    return this.refuse(demand, nodes) ?? this.grant(demand, nodes)
  }

  /** Counts a demand unconditionally: it was granted elsewhere. */
  grant(demand: Demand, nodes = 1): Granted {
    const nowMs = this.#now()
    this.#sweep(nowMs)
    // The clock never steps back here, so that all windows have one slot for it.
    let slot = 0
    for (const { id } of demand.windows) slot = this.#window(id).add(demand.weight, nowMs)
    for (const { id } of demand.running) this.#running.set(id, (this.#running.get(id) ?? 0) + 1)
    return new Grant(this, demand, { nodes, slot })
  }

  /** The window of a demand with the least left, for its grant. */
  tightest({ windows, weight }: Demand, nodes: number): BucketReading | undefined {
    const nowMs = this.#now()
    let tightest: BucketReading | undefined
    for (const bucket of windows) {
      tightest = tighter(
        tightest,
        readingOf(this.#window(bucket.id), { bucket, nodes, weight, nowMs }),
      )
    }
    return tightest
  }

  /** Ends a grant that was counted in a slot; `delta` is the use beyond the weight. */
  end({ windows, running }: Demand, slot: number, delta: number): void {
    for (const { id } of running) this.#leave(id)
    if (delta === 0) return
    const nowMs = this.#now()
    for (const { id } of windows) this.#window(id).correct(slot, delta, nowMs)
  }

  /** Returns the refusal of a demand, undefined where it fits. Counts nothing. */
  refuse({ windows, weight, running }: Demand, nodes = 1): LimitRefusal | undefined {
    const nowMs = this.#now()
    let refused: LimitRefusal | undefined
    for (const bucket of windows) {
      const window = this.#window(bucket.id)
      const waitMs = weight && window.waitMs(weight, shareOf(bucket, { nodes, weight }), nowMs)
      if (waitMs === 0) continue
      const reading = readingOf(window, { bucket, nodes, weight, nowMs })
      refused = longer(refused, { kind: 'refused', by: 'window', reading, waitMs })
    }
    for (const { id, limit } of refused ? [] : running) {
      const used = this.#running.get(id) ?? 0
      const left = shareOf({ limit }, { nodes, weight: 1 }) - used
      if (left > 0) continue
      const reading = { id, limit, used, left: 0, resetMs: runningWaitMs }
      return { kind: 'refused', by: 'running', reading, waitMs: runningWaitMs }
    }
    return refused
  }

  look({ windows, running }: Look): BucketUse[] {
    const nowMs = this.#now()
    return [
      ...windows.map(({ id }) => {
        const window = this.#windows.get(id)
        return { used: window?.used(nowMs) ?? 0, resetMs: window?.resetMs(nowMs) ?? 0 }
      }),
      ...running.map(({ id }) => ({ used: this.#running.get(id) ?? 0, resetMs: 0 })),
    ]
  }

  #window(id: string): SlidingWindow {
    const known = this.#windows.get(id)
    if (known) return known
    const window = new SlidingWindow()
    this.#windows.set(id, window)
    return window
  }

  #leave(id: string): void {
    const left = (this.#running.get(id) ?? 1) - 1
    if (left > 0) this.#running.set(id, left)
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
  readonly #nodes: number
  readonly #slot: number
  #isOver = false

  constructor(counters: MemoryCounters, demand: Demand, at: { nodes: number; slot: number }) {
    this.#counters = counters
    this.#demand = demand
    this.#nodes = at.nodes
    this.#slot = at.slot
  }

  get tightest(): BucketReading | undefined {
    return this.#counters.tightest(this.#demand, this.#nodes)
  }

  end(delta: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#counters.end(this.#demand, this.#slot, delta)
  }
}

interface Part {
  nodes: number
  weight: number
}

/** One node's share of a limit; a request that fits into the whole fits into an idle node. */
const shareOf = ({ limit }: { limit: number }, { nodes, weight }: Part) =>
  nodes === 1 ? limit : Math.min(limit, Math.max(1, weight, Math.floor(limit / nodes)))

interface At extends Part {
  bucket: LimitBucket
  nowMs: number
}

function readingOf(window: SlidingWindow, { bucket, nodes, weight, nowMs }: At): BucketReading {
  const used = window.used(nowMs)
  const left = Math.max(0, shareOf(bucket, { nodes, weight }) - used)
  return { id: bucket.id, limit: bucket.limit, used, left, resetMs: window.resetMs(nowMs) }
}

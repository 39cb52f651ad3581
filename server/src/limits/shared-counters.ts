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
import { keyOf, LimitBatches } from './limit-batches'
import { heartbeatScript, leaveScript, lookScript, renewScript } from './limit-scripts'
import { MemoryCounters } from './memory-counters'
import { windowMs } from './sliding-window'
import { generateIdBody } from '../platform/db/id'
import { Redis } from '../platform/redis'

interface Options {
  url: string
  onError: (error: Error) => void
  onBack: () => void
}

/** A window that is known to be full until `untilMs`. */
interface Full {
  reading: BucketReading
  untilMs: number
}

const heartbeatMs = 5000
const renewMs = 40_000
const nodesKey = 'tollgate:nodes'

/**
 * Counts for all nodes, in Redis: one round trip for all limits of a request, and of those that come at the same
 * moment. This node also counts the requests that it let in itself. While Redis is away, and for a minute after, as
 * it may have come back empty, the node lets in its share: each limit divided by the number of nodes last seen.
 */
export class SharedCounters implements Counters, AsyncDisposable {
  readonly #redis: Redis
  readonly #batches: LimitBatches
  readonly #own = new MemoryCounters()
  readonly #nodeId = generateIdBody()
  readonly #full = new Map<string, Full>()
  /** The places that running requests of this node hold, by request id. */
  readonly #held = new Map<string, readonly string[]>()
  readonly #timers: ReturnType<typeof setInterval>[]
  #nodes = 1
  #cautiousUntilMs = -Infinity

  constructor({ url, onError, onBack }: Options) {
    this.#redis = new Redis(url, {
      probe: (redis) => this.#beat(redis),
      onError,
      onBack: () => {
        this.#cautiousUntilMs = performance.now() + windowMs
        this.#renew()
        onBack()
      },
    })
    this.#batches = new LimitBatches(this.#redis)
    this.#timers = [
      setInterval(() => void this.#tick(), heartbeatMs),
      setInterval(() => this.#renew(), renewMs),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  /** Whether Redis does not answer, so that this node keeps to its share. */
  get isAway(): boolean {
    return this.#redis.isAway
  }

  async take(demand: Demand): Promise<CounterTake> {
    const known = this.#knownRefusal(demand)
    if (known) return known
    const id = generateIdBody()
    if (this.#redis.isAway) return this.#takeShare(demand, id)
    if (performance.now() < this.#cautiousUntilMs) {
      const refused = this.#own.refuse(demand, this.#nodes)
      if (refused) return refused
    }
    const { windows, running } = demand
    if (windows.length === 0 && running.length === 0) return this.#own.grant(demand)
    const answer = await this.#batches.take(id, demand).catch(() => undefined)
    if (!answer) return this.#takeShare(demand, id)
    const told = readTaken(demand, answer)
    if (told.refused) return this.#remember(demand, told.refused)
    return this.#granted(demand, { id, own: this.#own.grant(demand), ...told })
  }

  /** The use on all nodes; on this one while Redis is away. */
  async look(at: Look): Promise<BucketUse[]> {
    const buckets = [...at.windows, ...at.running]
    if (buckets.length === 0 || this.#redis.isAway) return this.#own.look(at)
    const answer = await this.#redis
      .run(lookScript, buckets.map(keyOf), [at.windows.length])
      .then(toNumbers, () => undefined)
    if (!answer) return this.#own.look(at)
    return buckets.map((_bucket, position) => ({
      used: answer[position * 2] ?? 0,
      resetMs: answer[position * 2 + 1] ?? 0,
    }))
  }

  /** Takes from the share that this node may let in by itself. */
  #takeShare(demand: Demand, id: string): CounterTake {
    const own = this.#own.take(demand, this.#nodes)
    if (own.kind === 'refused') return own
    return this.#granted(demand, { id, own, tightest: own.tightest, slots: undefined })
  }

  #granted(demand: Demand, { id, own, tightest, slots }: Let): Granted {
    const places = demand.running.map(keyOf)
    if (places.length > 0) this.#held.set(id, places)
    let isOver = false
    const end = (delta: number) => {
      if (isOver) return
      isOver = true
      own.end(delta)
      this.#held.delete(id)
      const windows = slots && delta !== 0 ? demand.windows : []
      const { running } = demand
      if (windows.length + running.length === 0 || this.#redis.isAway) return
      this.#batches.end({ id, windows, slots: slots ?? [], delta, running })
    }
    return { kind: 'granted', tightest, end }
  }

  /**
   * Avoids a round trip for a refusal that cannot have changed. Only where one is taken at a time: requests are never
   * given back, tokens are.
   */
  #remember(demand: Demand, refused: LimitRefusal): LimitRefusal {
    const { reading, by, waitMs } = refused
    if (by === 'running' || demand.weight !== 1) return refused
    this.#full.set(reading.id, { reading, untilMs: performance.now() + waitMs })
    return refused
  }

  #knownRefusal({ windows, weight }: Demand): LimitRefusal | undefined {
    if (weight !== 1 || this.#full.size === 0) return undefined
    let refused: LimitRefusal | undefined
    for (const { id, limit } of windows) {
      const full = this.#full.get(id)
      if (full?.reading.limit !== limit) continue
      const waitMs = Math.ceil(full.untilMs - performance.now())
      if (waitMs <= 0) continue
      const reading = { ...full.reading, resetMs: waitMs }
      refused = longer(refused, { kind: 'refused', by: 'window', reading, waitMs })
    }
    return refused
  }

  async #tick(): Promise<void> {
    const nowMs = performance.now()
    for (const [id, { untilMs }] of this.#full) if (untilMs <= nowMs) this.#full.delete(id)
    if (!this.#redis.isAway) await this.#beat(this.#redis).catch(() => undefined)
  }

  async #beat(redis: Redis): Promise<void> {
    const nodes = await redis.evaluate(heartbeatScript, [nodesKey], [this.#nodeId])
    const isCertain = !redis.isAway && performance.now() > this.#cautiousUntilMs
    // A Redis that came back empty has not heard of the other nodes yet.
    this.#nodes = isCertain ? Number(nodes) : Math.max(this.#nodes, Number(nodes))
  }

  #renew(): void {
    for (const [id, places] of this.#held) {
      this.#redis.run(renewScript, places, [id]).catch(() => undefined)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    if (!this.#redis.isAway) await this.#batches.flush()
    await this.#redis.run(leaveScript, [nodesKey], [this.#nodeId]).catch(() => undefined)
    this.#redis[Symbol.dispose]()
  }
}

interface Let {
  id: string
  own: Granted
  tightest: BucketReading | undefined
  /** The slots in which Redis counted it, by window; undefined where it did not. */
  slots: number[] | undefined
}

const toNumbers = (answer: unknown): number[] => (Array.isArray(answer) ? answer.map(Number) : [])

/** Reads the script's answer, in the format of `batchText`. */
function readTaken({ windows, running }: Demand, answer: readonly number[]) {
  const [refusedBy = 0, wait = 0, ...rest] = answer
  const slots: number[] = []
  let tightest: BucketReading | undefined
  const readings = windows.map(({ id, limit }, position): BucketReading => {
    const [used = 0, resetMs = 0, slot = 0] = rest.slice(position * 3, position * 3 + 3)
    slots.push(slot)
    return { id, limit, used, left: Math.max(0, limit - used), resetMs }
  })
  for (const reading of readings) tightest = tighter(tightest, reading)
  const refusedReading = readings[refusedBy - 1]
  if (refusedBy === 0) return { refused: undefined, tightest, slots }
  if (refusedReading) {
    const waitMs = wait < 0 ? Infinity : wait
    const refused: LimitRefusal = { kind: 'refused', by: 'window', reading: refusedReading, waitMs }
    return { refused, tightest, slots }
  }
  const { id, limit } = running[refusedBy - 1 - windows.length] ?? { id: '', limit: 1 }
  const reading = { id, limit, used: limit, left: 0, resetMs: runningWaitMs }
  const refused: LimitRefusal = { kind: 'refused', by: 'running', reading, waitMs: runningWaitMs }
  return { refused, tightest, slots }
}

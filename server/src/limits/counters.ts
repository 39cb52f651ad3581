import type { LimitBucket } from './caller-limits'
import type { MaybePromise } from '../platform/maybe-promise'

/** The demand of a request on its limits; it gets all of it or nothing. */
export interface Demand {
  /** Each counts `weight` for a minute. */
  windows: readonly LimitBucket[]
  /** 0 only reads. */
  weight: number
  /** Each holds one place until the grant ends. */
  running: readonly LimitBucket[]
}

/** The use of a bucket. */
export interface BucketReading {
  /** The bucket's. */
  id: string
  limit: number
  used: number
  remaining: number
  /** Until it next gives something back. */
  resetMs: number
}

/** The buckets to read; reading counts nothing. */
export type LimitBuckets = Pick<Demand, 'windows' | 'running'>

/** The use of one of these buckets. */
export interface BucketUse {
  used: number
  /** Until it next gives something back; 0 where nothing is used, and for places. */
  resetMs: number
}

export interface Granted {
  kind: 'granted'
  /** The window with the least left, undefined where there is none; computed in the tick of the grant. */
  readonly tightest: BucketReading | undefined
  /** Gives the places back, and corrects the count by `delta`, the use beyond the weight. Once. */
  end: (delta: number) => void
}

export interface LimitRefusal {
  kind: 'refused'
  /** The bucket that refused: of several, the one that takes longest to have room. */
  reading: BucketReading
  by: 'window' | 'running'
  /** Until it has room if nothing else happens, Infinity for never. */
  waitMs: number
}

export type CounterTake = Granted | LimitRefusal

/** Counters of the limits: in this process, or for all nodes together. */
export interface Counters {
  take: (demand: Demand) => MaybePromise<CounterTake>
  /** One for each window, then one for each place. */
  readUse: (at: LimitBuckets) => MaybePromise<BucketUse[]>
}

/** The end of a running request is unknown; this is soon enough to try again. */
export const runningWaitMs = 1000

/** The reading with less left. */
export const tighter = (one: BucketReading | undefined, other: BucketReading): BucketReading =>
  one && one.remaining <= other.remaining ? one : other

/** The refusal that lasts longer. */
export const longer = (one: LimitRefusal | undefined, other: LimitRefusal): LimitRefusal =>
  one && one.waitMs >= other.waitMs ? one : other

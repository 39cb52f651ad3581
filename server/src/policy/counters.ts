import type { Bucket } from '../auth/principal'

/** What a request asks of its limits; it gets all of it or nothing. */
export interface Demand {
  /** Each counts `weight` for a minute. */
  windows: readonly Bucket[]
  /** 0 only reads. */
  weight: number
  /** Each holds one place until the grant ends. */
  running: readonly Bucket[]
}

/** How far a bucket is used. */
export interface Reading {
  /** The bucket's. */
  id: string
  limit: number
  used: number
  left: number
  /** Until it next gives something back. */
  resetMs: number
}

/** What somebody stands at; nothing is counted by looking. */
export type Look = Pick<Demand, 'windows' | 'running'>

/** How far a bucket is used, as `Look` names them. */
export interface Used {
  used: number
  /** Until it next gives something back; 0 where nothing is used, and for places. */
  resetMs: number
}

export interface Granted {
  kind: 'granted'
  /** The window with the least left, undefined where there is none; asked in the turn of the grant. */
  readonly tightest: Reading | undefined
  /** Gives the places back, and makes good that `delta` more than the weight was used. Once. */
  end: (delta: number) => void
}

export interface Refused {
  kind: 'refused'
  /** What refused: of several, that which takes longest to have room. */
  reading: Reading
  by: 'window' | 'running'
  /** Until it has room if nothing else happens, Infinity for never. */
  waitMs: number
}

export type Taken = Granted | Refused

/** Where limits are counted: in this process, or for all nodes together. */
export interface Counters {
  take: (demand: Demand) => Taken | Promise<Taken>
  /** One for each window, then one for each place. */
  look: (at: Look) => Used[] | Promise<Used[]>
}

/** Nobody knows when a running request ends; this is soon enough to ask again. */
export const runningWaitMs = 1000

/** The reading with less left. */
export const tighter = (one: Reading | undefined, other: Reading): Reading =>
  one && one.left <= other.left ? one : other

/** The refusal that lasts longer. */
export const longer = (one: Refused | undefined, other: Refused): Refused =>
  one && one.waitMs >= other.waitMs ? one : other

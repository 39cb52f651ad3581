import type { SliceDocument } from './slice-document'

/** A document as it was read, with the version that a write of it names. */
export interface StoredSlices {
  /** 0 where the store has none. */
  version: number
  document: SliceDocument
}

/** The state of the store when it was read. */
export interface StoreMoment {
  /** The store's clock, in milliseconds. */
  nowMs: number
  /** Changes when the store has lost its data. */
  epoch: string
  /** When the store began anew, by its clock. */
  sinceMs: number
  /** Whether there were nodes before it began anew: they state their slices again, and no slice grows meanwhile. */
  hasLostSlices: boolean
}

export interface SliceWrite {
  bucket: string
  /** The version that was read. */
  version: number
  document: SliceDocument
}

/** A request for units that other nodes do not use. */
export interface Recall {
  bucket: string
  /** 0 only asks the nodes to state what they use. */
  units: number
  /** The node that sends it. */
  from: string
}

/** The nodes that the store lists when one of them reports. */
export interface Heartbeat extends StoreMoment {
  /** When each node last reported, by the store's clock. */
  seenAtMs: ReadonlyMap<string, number>
}

/**
 * Keeps the slices of all nodes: a document for each limit, written only where no other node wrote it since it was read.
 * Every method rejects while the store is unavailable, and has a timeout of its own.
 */
export interface SliceStore {
  readonly kind: 'redis' | 'postgresql'
  read: (buckets: readonly string[]) => Promise<StoreMoment & { slices: StoredSlices[] }>
  /** Returns whether each was written. */
  write: (writes: readonly SliceWrite[]) => Promise<boolean[]>
  /** Reports a node as running. `epoch` is the one that it knew, if any. */
  beat: (node: string, epoch: string | undefined) => Promise<Heartbeat>
  /** Removes a node. */
  leave: (node: string) => Promise<void>
  /** Whether it counts as unavailable: requests do not wait for it then. */
  readonly isAway: boolean
  /** Sends a recall to all nodes; it may be lost. */
  recall: (recalls: readonly Recall[]) => Promise<void>
}

/** The time for which nodes state their slices in a store that was emptied. Milliseconds. */
export const settleMs = 3000

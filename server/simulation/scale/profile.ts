import type { SliceStore } from '../../src/limits/slices/slice-store'

/** A whole region is lost: all its nodes at once, or their way to the database and to the store of the limits. */
export type RegionLoss = 'killed' | 'cut off'

/**
 * The nodes at which the requests of an account arrive: `anywhere`, at any node of any region; `home`, at any node of the
 * account's home region, as a load balancer for each region has it; `node`, at one node of it, chosen by the account.
 */
export type Affinity = 'anywhere' | 'home' | 'node'

/** The parameters of a run at scale. */
export interface ScaleProfile {
  seed: number
  /** Nodes and accounts are spread evenly over them; the database and the store of limits are in the first. */
  regions: number
  nodes: number
  accounts: number
  /** Of all accounts together. */
  requestsPerSecond: number
  affinity: Affinity
  /** Round trips within a region, and between two. Milliseconds. */
  nearMs: number
  farMs: number
  sliceStore: SliceStore['kind']
  /**
   * The round trips of a booking's transaction for which the rows of its accounts are locked: those of a far database, with
   * logs of requests (`ledger/store-booking.test.ts` counts the statements).
   */
  bookingRoundTrips: number
  /** The time after which the database ends a transaction whose client has gone silently. Milliseconds. */
  idleTransactionMs: number
  /** Requests before figures are taken, while they are taken, and from the loss of the last region on. Milliseconds. */
  warmUpMs: number
  measuredMs: number
  lostMs: number
  /** The last region is lost after the measured time, for `lossMs`. */
  loss?: RegionLoss
}

/** The time at which requests begin. */
export const startMs = 5000
/** After so long a lost region comes back, with what its disks kept. Milliseconds. */
export const lossMs = 150_000
/**
 * The time without requests at the end: at least so long, in which slices return, and then until all is booked and no lease
 * is left, at most so long. Milliseconds.
 */
export const quietMs = { min: 150_000, max: 900_000 }

/** 100 nodes, a million accounts, three regions 80 ms apart. */
export const fullScale: ScaleProfile = {
  seed: 1,
  regions: 3,
  nodes: 100,
  accounts: 1_000_000,
  requestsPerSecond: 300,
  affinity: 'home',
  nearMs: 0.5,
  farMs: 80,
  sliceStore: 'postgresql',
  bookingRoundTrips: 5,
  idleTransactionMs: 10_000,
  warmUpMs: 30_000,
  measuredMs: 60_000,
  lostMs: 180_000,
  loss: 'killed',
}

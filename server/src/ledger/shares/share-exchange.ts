import * as z from 'zod'
import type { NodeShare } from './grant-share'
import type { UsedBy, WindowSums, Unbooked } from '../window-sums'

/** A usage whose share a node states anew. */
export interface SharedUsage extends UsedBy {
  /** Its events that may not have been booked yet; read when the usage is locked. */
  readonly unbooked: readonly Unbooked[]
}

/** The state of the database in an exchange, in which no other node changes a share of the usages. */
export interface ShareMoment extends WindowSums {
  turn: bigint
  /** The database's clock. */
  nowMs: number
  /** The shares of all nodes, by the id of the usage. */
  shares: ReadonlyMap<string, readonly NodeShare[]>
}

/** The decision about one usage of an exchange. */
export interface ShareDecision {
  /** The share of this node from now on; undefined where it has none. */
  share: NodeShare | undefined
  /** Nodes whose shares are deleted. */
  deadNodes: readonly string[]
  /** Whether the other nodes must state their use first. */
  needsOthers: boolean
}

/** The decisions about the usages of an exchange, in their order; undefined for one whose window is over. */
export type DecideShares = (moment: ShareMoment) => readonly (ShareDecision | undefined)[]

const recall = z.object({ usageId: z.string(), fromMs: z.number(), from: z.string() })

/** A request to state the share of a usage anew, and the node that sends it. */
export type ShareRecall = z.output<typeof recall>

/** Reads a recall; undefined where it is none. */
export function toShareRecall(text: string): ShareRecall | undefined {
  try {
    return recall.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

import { windowMs } from '../sliding-window'

/** The slice of one node in a limit, as it stated it last. Times are of the store's clock, in milliseconds. */
export interface NodeSlice {
  /** The units that the node may have in use. */
  units: number
  /** Units in use that become free at a time: `[freeAtMs, units]`, rising. At most 241. */
  expiring: readonly (readonly [number, number])[]
  /** Units in use until a request ends. */
  running: number
  statedAtMs: number
  /** Until then the node states at once what becomes free, as another node waits for it. */
  pushesUntilMs: number
  /** The node has shut down: only what it used still counts. */
  hasLeft: boolean
}

/** All slices of a limit, by node. */
export type SliceDocument = Readonly<Record<string, NodeSlice>>

/** A node that had no answer of the store for so long keeps to its equal share, as others may soon have what it had. */
export const heldMs = 30_000
/** A node that was silent for so long is dead: all that it used beyond its share has expired. */
export const windowDeadMs = heldMs + windowMs + 10_000
/** The same for the slots of concurrent requests. */
export const slotDeadMs = windowMs + 10_000

/** The state of the cluster that a decision is based on. */
export interface ClusterView {
  nowMs: number
  node: string
  /** The number of nodes that run. */
  nodes: number
  /** Whether a node, which stated its slice then, is dead. */
  isDead: (node: string, statedAtMs: number) => boolean
  /** Whether a node cannot be expected to answer a recall. */
  isSilent: (node: string, statedAtMs: number) => boolean
}

/** The units that a node uses, as far as it has stated it. */
export function usedOf(
  { expiring, running }: Pick<NodeSlice, 'expiring' | 'running'>,
  nowMs: number,
): number {
  let used = running
  for (const [freeAtMs, units] of expiring) if (freeAtMs > nowMs) used += units
  return used
}

/**
 * The units that a slice takes from the limit. A node that had no answer of the store for long may use more than its
 * slice.
 */
const reservedOf = (slice: NodeSlice, nowMs: number): number => {
  const used = usedOf(slice, nowMs)
  return slice.hasLeft ? used : Math.max(slice.units, used)
}

/** The units that a node may have idle: none that it would have stated since. */
function idleOf(slice: NodeSlice, nowMs: number): number {
  if (slice.hasLeft) return 0
  if (slice.pushesUntilMs <= nowMs) return slice.units
  return Math.max(0, slice.units - usedOf(slice, nowMs))
}

/** The other nodes' slices, added up. */
export interface OtherSlices {
  /** Units that they take from the limit. */
  reserved: number
  /** Units of them that may be idle: a recall tells. */
  idle: number
  /** Units in use, as stated. */
  used: number
  /** Units that silent nodes may have idle: nothing can free them before those are dead. */
  stranded: number
  /** When units in use become free: `[inMs, units]`, in no order. */
  expiring: (readonly [number, number])[]
}

/** Adds up the slices of the other nodes. */
export function sumOthers(
  document: SliceDocument,
  { nowMs, node, isDead, isSilent }: ClusterView,
): OtherSlices {
  const sum: OtherSlices = { reserved: 0, idle: 0, used: 0, stranded: 0, expiring: [] }
  for (const [name, slice] of Object.entries(document)) {
    if (name === node || (!slice.hasLeft && isDead(name, slice.statedAtMs))) continue
    const reservedUnits = reservedOf(slice, nowMs)
    const used = usedOf(slice, nowMs)
    sum.reserved += reservedUnits
    sum.used += used
    if (isSilent(name, slice.statedAtMs)) sum.stranded += reservedUnits - used
    else sum.idle += idleOf(slice, nowMs)
    for (const [freeAtMs, units] of slice.expiring) {
      if (freeAtMs > nowMs) sum.expiring.push([freeAtMs - nowMs, units])
    }
  }
  return sum
}

/** Returns the document with one node's slice; without those that no longer count. */
export function withSlice(
  document: SliceDocument,
  own: NodeSlice,
  { nowMs, node, isDead }: ClusterView,
): SliceDocument {
  const countedSlices = Object.entries(document).filter(
    ([name, slice]) =>
      name !== node && (slice.hasLeft ? usedOf(slice, nowMs) > 0 : !isDead(name, slice.statedAtMs)),
  )
  const isEmpty = own.units <= 0 && own.expiring.length === 0 && own.running === 0
  return Object.fromEntries(isEmpty ? countedSlices : [...countedSlices, [node, own]])
}

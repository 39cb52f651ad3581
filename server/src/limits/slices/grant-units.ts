import {
  sumOthers,
  withSlice,
  type ClusterView,
  type NodeSlice,
  type OtherSlices,
  type SliceDocument,
} from './slice-document'

/** The use that a node reports of one limit, and its demand. */
export interface SliceStatement {
  limit: number
  /** Its slice, with the units that it keeps; `statedAtMs` is set by the decision. */
  own: Omit<NodeSlice, 'statedAtMs'>
  /** The units beyond those kept that its waiting requests need: of the first, of the first two, and so on. */
  needs: readonly number[]
  /** Whether slices may grow: not while other nodes may not have stated theirs. */
  mayGrow: boolean
}

export interface SliceGrant {
  document: SliceDocument
  /** The node's slice from now on. */
  units: number
  /** Units of the limit that no node has. */
  unassigned: number
  otherSlices: OtherSlices
  /** Units that the first waiting request without enough still lacks. */
  missingUnits: number
}

/**
 * Decides how large a node's slice is: never more than other nodes leave of the limit. Waiting requests get theirs in
 * order; once all have, the node gets an equal part of half of what is left: near the limit slices grow by single
 * requests, and of nodes that crash one after the other each leaves half to those that follow.
 */
export function grantUnits(
  document: SliceDocument,
  { limit, own, needs, mayGrow }: SliceStatement,
  view: ClusterView,
): SliceGrant {
  const otherSlices = sumOthers(document, view)
  const free = Math.max(0, limit - otherSlices.reserved)
  const retainedUnits = Math.min(own.units, free)
  const rest = mayGrow ? free - retainedUnits : 0
  // What could not be kept is needed too.
  const cutUnits = own.units - retainedUnits
  const met = needs.findLast((need) => need + cutUnits <= rest)
  const unmet = needs.find((need) => need + cutUnits > rest)
  const grantedUnits = met === undefined ? 0 : met + cutUnits
  const isGrowing = met !== undefined && unmet === undefined
  const extra = isGrowing ? Math.floor((rest - grantedUnits) / (2 * Math.max(1, view.nodes))) : 0
  const units = retainedUnits + grantedUnits + extra
  return {
    document: withSlice(document, { ...own, units, statedAtMs: view.nowMs }, view),
    units,
    unassigned: free - units,
    otherSlices,
    missingUnits: unmet === undefined ? 0 : unmet + cutUnits - rest,
  }
}

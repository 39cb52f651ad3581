import type { ReferenceDemands } from './reference-demands'
import type { ReferenceLease } from './reference-leases'
import type { ReferenceTake } from './reference-take'

/** Before all reclaims. */
export const never = -1n

/** Called when a claim commits that notifies other nodes. */
export interface TakeEvents {
  onRecall?: (at: bigint) => void
  onCredit?: () => void
}

export const least = (...amounts: bigint[]) => amounts.reduce((a, b) => (a < b ? a : b))
export const maxOf = (...amounts: bigint[]) => amounts.reduce((a, b) => (a > b ? a : b))

interface Situation {
  /** The lease that the claim names; undefined for a new one. */
  lease: ReferenceLease | undefined
  /** The account's credit in no lease. */
  free: bigint
  line: ReturnType<ReferenceDemands['line']>
}

/** The outcome of a claim. */
interface Played {
  /** Of the lease's amount. */
  change: bigint
  /** The last reclaim that the node has answered; `never` where it keeps more than it needs. */
  yieldedAt: bigint
  /** The part of the need that the lease lacks. */
  lacking: bigint
  /** Whether other nodes in line learn of it. */
  isNews: boolean
}

/** Plays a claim as `claim_lease` of migration 0055. */
export function playClaim(claim: ReferenceTake, { lease, free, line }: Situation): Played {
  const { own, older, others } = line
  const unspent = lease ? lease.amount - lease.spent : 0n
  const spare = maxOf(0n, least(claim.spare ?? 0n, unspent))
  const hasOthers = others.length > 0
  const { kept, isShort } = decide(claim, { spare, free, older, hasOthers })
  const isYielding = kept === 0n
  const since = lease?.yieldedAt ?? never
  const { lastReclaim = 0n } = claim
  const isAnswer = others.some(({ recalledAt }) => recalledAt > since && recalledAt <= lastReclaim)
  const isAnswered = isAnswer && isYielding && unspent > 0n
  const isServed = own !== undefined && !isShort
  return {
    change: kept - spare,
    yieldedAt: isYielding ? lastReclaim : never,
    lacking: isShort ? claim.need - kept : 0n,
    isNews: hasOthers && (kept < spare || isServed || isAnswered),
  }
}

/** Decides which part of what is offered and free the lease has afterwards. */
function decide(
  { need, wish, nodes }: ReferenceTake,
  free: { spare: bigint; free: bigint; older: bigint; hasOthers: boolean },
): { kept: bigint; isShort: boolean } {
  const { spare, older, hasOthers } = free
  const pool = free.free + spare
  if (need > 0n && pool - older < need) {
    return { kept: older === 0n ? maxOf(0n, pool) : 0n, isShort: true }
  }
  const share = least(pool, spare + least(wish, maxOf(0n, free.free) / BigInt(nodes)))
  return { kept: hasOthers ? need : maxOf(need, share), isShort: false }
}

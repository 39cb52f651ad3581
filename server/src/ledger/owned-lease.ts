import type { AccountCredit } from './account-credit'
import type { LocalLease } from './local-lease'

/** An account idle for this long returns its credit. */
export const idleMs = 30_000

/** A lease of this node and its account. */
export interface OwnedLease {
  accountId: string
  credit: AccountCredit
  lease: LocalLease
}

/**
 * Returns whether the account is unused, or the lease is retired and has free credit, or ends: its last cost
 * should be booked by now.
 */
export function isIdle({ credit, lease }: OwnedLease, now: number): boolean {
  if (now - credit.lastUsedMs >= idleMs) return true
  if (lease === credit.currentLease) return false
  return lease.heldAmount > 0n ? lease.free > 0n : now - lease.settledAtMs >= idleMs
}

/** Returns whether a lease can be returned, a lease without amount included. */
export const isReturnable = ({ isUnsure, free, heldAmount }: LocalLease) =>
  !isUnsure && (free > 0n || (free === 0n && heldAmount === 0n))

/** Costs beyond their holds may have made it negative: then nothing can be returned. */
export const returnableOf = ({ free }: LocalLease) => (free > 0n ? free : 0n)

import type { AccountCredit } from './account-credit'
import type { LocalLease } from './local-lease'

/** An account idle for this long returns its credit. */
export const idleMs = 30_000

/** A lease of this node and its account. */
export interface OwnedLease {
  accountId: string
  purse: AccountCredit
  slice: LocalLease
}

/**
 * Returns whether the account is unused, or the lease is retired and has free credit, or ends: its last cost
 * should be booked by now.
 */
export function isIdle({ purse, slice }: OwnedLease, now: number): boolean {
  if (now - purse.lastUsedMs >= idleMs) return true
  if (slice === purse.slice) return false
  return slice.held > 0n ? slice.free > 0n : now - slice.settledAtMs >= idleMs
}

/** Returns whether a lease can be returned, a lease without amount included. */
export const isReturnable = ({ isUnsure, free, held }: LocalLease) =>
  !isUnsure && (free > 0n || (free === 0n && held === 0n))

/** Costs beyond their holds may have made it negative: then nothing can be returned. */
export const returnableOf = ({ free }: LocalLease) => (free > 0n ? free : 0n)

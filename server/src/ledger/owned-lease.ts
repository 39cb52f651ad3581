import type { AccountCredit } from './account-credit'
import type { LocalLease } from './local-lease'

/** What an account does not use for so long goes back. */
export const idleMs = 30_000

/** A slice of this node, and whose it is. */
export interface OwnedLease {
  accountId: string
  purse: AccountCredit
  slice: LocalLease
}

/**
 * The account is not used; or the slice is retired and has something free, or ends: its last cost
 * should be booked by now.
 */
export function isIdle({ purse, slice }: OwnedLease, now: number): boolean {
  if (now - purse.lastUsedMs >= idleMs) return true
  if (slice === purse.slice) return false
  return slice.held > 0n ? slice.free > 0n : now - slice.settledAtMs >= idleMs
}

/** Whether there is anything to give back, a lease without amount included. */
export const isReturnable = ({ isUnsure, free, held }: LocalLease) =>
  !isUnsure && (free > 0n || (free === 0n && held === 0n))

/** Of what costs beyond their holds have taken, nothing can be given back. */
export const returnableOf = ({ free }: LocalLease) => (free > 0n ? free : 0n)

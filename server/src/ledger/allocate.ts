/** An account's locked state. Nano-dollars. */
export interface AccountState {
  posted: bigint
  leased: bigint
}

/** A lease's locked state. Nano-dollars. */
export interface LeaseState {
  amount: bigint
  spent: bigint
}

/** The charge that an event requests. Nano-dollars. */
export interface RequestedCharge {
  cost: bigint
  /** The part that the node took out of its lease, as far as the lease still covers it. */
  fromLease: bigint
}

/** The sources of an event's cost; the three add up to it. Nano-dollars. */
export interface Allocation {
  fromLease: bigint
  fromBalance: bigint
  /** The part that neither lease nor balance covers: the house bears it, so that no account goes below zero. */
  writtenOff: bigint
}

const minimum = (a: bigint, b: bigint) => (a < b ? a : b)

/**
 * Allocates one charge: to the lease, then to the account's available balance, then to the house. Changes
 * `account` and `lease`, so that the next charge sees the rest.
 */
export function allocateCharge(
  charge: RequestedCharge,
  account: AccountState,
  lease: LeaseState | undefined,
): Allocation {
  const fromLease = lease ? minimum(charge.fromLease, lease.amount - lease.spent) : 0n
  const rest = charge.cost - fromLease
  const fromBalance = minimum(rest, account.posted - account.leased)
  account.posted -= fromLease + fromBalance
  account.leased -= fromLease
  if (lease) lease.spent += fromLease
  return { fromLease, fromBalance, writtenOff: rest - fromBalance }
}

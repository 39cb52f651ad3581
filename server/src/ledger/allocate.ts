/** An account as it is locked. Nano-dollars. */
export interface AccountState {
  posted: bigint
  leased: bigint
}

/** A lease as it is locked. Nano-dollars. */
export interface LeaseState {
  amount: bigint
  spent: bigint
}

/** What an event asks for. Nano-dollars. */
export interface RequestedCharge {
  cost: bigint
  /** What the node took out of its lease, as far as that lease still is. */
  fromLease: bigint
}

/** Where the cost of an event comes from; the three add up to it. Nano-dollars. */
export interface Allocation {
  fromLease: bigint
  fromBalance: bigint
  /** What neither lease nor balance covers: the house bears it, so that nobody goes below zero. */
  writtenOff: bigint
}

const least = (a: bigint, b: bigint) => (a < b ? a : b)

/**
 * Books one charge: from the lease, then from what the account has for anybody, then from the house.
 * Changes `account` and `lease`, so that the next charge sees what is left.
 */
export function allocateCharge(
  charge: RequestedCharge,
  account: AccountState,
  lease: LeaseState | undefined,
): Allocation {
  const fromLease = lease ? least(charge.fromLease, lease.amount - lease.spent) : 0n
  const rest = charge.cost - fromLease
  const fromBalance = least(rest, account.posted - account.leased)
  account.posted -= fromLease + fromBalance
  account.leased -= fromLease
  if (lease) lease.spent += fromLease
  return { fromLease, fromBalance, writtenOff: rest - fromBalance }
}

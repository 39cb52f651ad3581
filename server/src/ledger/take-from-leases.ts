import type { AccountState, LeaseState } from './allocate'
import type { Charge } from './charge'

interface Sum {
  accountId: string
  cost: bigint
}

/** Returns the sum that each lease has to bear; undefined where a charge is not wholly its lease's. */
function sumsOf(charges: readonly Charge[]): Map<string, Sum> | undefined {
  const sums = new Map<string, Sum>()
  for (const { cost, fromLease, leaseId, accountId } of charges) {
    if (cost === 0n) continue
    if (fromLease !== cost || leaseId === null || accountId === null) return undefined
    const sum = sums.get(leaseId)
    if (sum) sum.cost += cost
    else sums.set(leaseId, { accountId, cost })
  }
  return sums
}

/**
 * Takes all charges out of their leases, as `allocateCharge` would one by one, if those have enough for all: in
 * the steady state they have. Returns false, and changes nothing, where they do not.
 */
export function takeFromLeases(
  charges: readonly Charge[],
  accounts: ReadonlyMap<string, AccountState>,
  leases: ReadonlyMap<string, LeaseState>,
): boolean {
  const sums = sumsOf(charges)
  if (!sums) return false
  for (const [leaseId, { accountId, cost }] of sums) {
    const lease = leases.get(leaseId)
    if (!lease || !accounts.has(accountId) || lease.amount - lease.spent < cost) return false
  }
  for (const [leaseId, { accountId, cost }] of sums) {
    const lease = leases.get(leaseId)
    const account = accounts.get(accountId)
    if (lease) lease.spent += cost
    if (!account) continue
    account.posted -= cost
    account.leased -= cost
  }
  return true
}

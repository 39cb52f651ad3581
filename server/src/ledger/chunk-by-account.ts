import type { Charge } from './charge'

/**
 * Splits a batch into the parts in which it is booked, each with at most so many accounts: booking holds the rows
 * of all its accounts until the end, and an account that needs credit meanwhile waits. All events of an account
 * are in one part, in order.
 */
export function chunkByAccount<One extends { charge: Pick<Charge, 'accountId'> }>(
  batch: readonly One[],
  maxAccounts: number,
): One[][] {
  const chunks: One[][] = []
  const chunkOf = new Map<string, One[]>()
  let current: One[] = []
  let accounts = maxAccounts
  for (const one of batch) {
    const { accountId } = one.charge
    // Events without a payer lock nothing, and may be in any part.
    const chunkOfAccount = accountId === null ? chunks[0] : chunkOf.get(accountId)
    if (chunkOfAccount) {
      chunkOfAccount.push(one)
      continue
    }
    if (accounts >= maxAccounts) {
      chunks.push((current = []))
      accounts = 0
    }
    current.push(one)
    if (accountId === null) continue
    accounts += 1
    chunkOf.set(accountId, current)
  }
  return chunks
}

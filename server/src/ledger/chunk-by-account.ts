import type { BookableEvent } from './settle'

/**
 * A batch in the parts in which it is booked, each with at most so many accounts: whoever books holds the rows
 * of all its accounts until the end, and one that needs credit meanwhile waits for them. All of an account's is in
 * one part, in its order.
 */
export function chunkByAccount<One extends Pick<BookableEvent, 'charge'>>(
  batch: readonly One[],
  mostAccounts: number,
): One[][] {
  const portions: One[][] = []
  const placeOf = new Map<string, One[]>()
  let current: One[] = []
  let accounts = mostAccounts
  for (const one of batch) {
    const { accountId } = one.charge
    // What nobody pays for locks nothing, and may be anywhere.
    const known = accountId === null ? portions[0] : placeOf.get(accountId)
    if (known) {
      known.push(one)
      continue
    }
    if (accounts >= mostAccounts) {
      portions.push((current = []))
      accounts = 0
    }
    current.push(one)
    if (accountId === null) continue
    accounts += 1
    placeOf.set(accountId, current)
  }
  return portions
}

import type { BookableEvent } from './settle'

/**
 * Splits a batch into the parts in which it is booked, each with at most so many accounts: booking holds the rows
 * of all its accounts until the end, and an account that needs credit meanwhile waits. All events of an account
 * are in one part, in order.
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
    // Events without a payer lock nothing, and may be in any part.
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

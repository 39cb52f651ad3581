import type { ReferenceEvent } from '../testing/ledger/reference-ledger'

/** Returns an event as a line of the journal. */
export const toBody = (event: ReferenceEvent): string =>
  JSON.stringify([
    event.id,
    event.accountId,
    event.leaseId,
    String(event.cost),
    String(event.fromLease),
  ])

/** Reads an event back. */
export function toEvent(body: string): ReferenceEvent {
  const [id, accountId, leaseId, cost, fromLease] = JSON.parse(body)
  return { id, accountId, leaseId, cost: BigInt(cost), fromLease: BigInt(fromLease) }
}

/** Converts an attempt that its process left open to an orphan, which is charged nothing. */
export const asOrphan = (attemptId: string, body: string): string => {
  const { accountId, leaseId } = toEvent(body)
  return toBody({ id: attemptId, accountId, leaseId, cost: 0n, fromLease: 0n })
}

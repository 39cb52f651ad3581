import type { Transaction } from 'kysely'
import type { Charge } from './charge'
import { copyBooked, isCopyable, type CopyableEvent } from './copy-events'
import { insertBooked } from './insert-events'
import type { Schema } from '../platform/db/schema'
import { isRefused } from '../platform/db/violation'

/** A usage event to be booked: its record, and the charge that booking needs. */
export interface BookableEvent {
  record: string
  charge: Charge
}

/** Thrown where some events of a batch are in the ledger already, or cannot be copied: then each is booked by itself. */
export class AlreadyBooked extends Error {
  override readonly name = 'AlreadyBooked'

  constructor(options?: ErrorOptions) {
    super('some events are booked already', options)
  }
}

/**
 * Inserts events that their leases paid, and adds them to the sums; `accounts` pay, by the ledger transaction of each.
 * Rejects with `AlreadyBooked` if some are there already.
 */
export async function insertNew(
  trx: Transaction<Schema>,
  batch: readonly BookableEvent[],
  accounts: readonly { id: string; transactionId: string }[],
): Promise<void> {
  const nowMs = Date.now()
  const copyable: CopyableEvent[] = []
  const others: string[] = []
  for (const event of batch) {
    if (isCopyable(event, nowMs)) copyable.push(event)
    else others.push(event.record)
  }
  if (others.length > 0 && (await insertBooked(trx, others, accounts)) < others.length)
    throw new AlreadyBooked()
  await copyBooked(trx, copyable, accounts).catch((thrown: unknown) => {
    throw isRefused(thrown) ? new AlreadyBooked({ cause: thrown }) : thrown
  })
}

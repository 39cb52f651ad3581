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

interface Payers {
  accounts: readonly { id: string; transactionId: string }[]
  /** Inserts what it can by `COPY`. */
  canCopy: boolean
}

/**
 * Inserts events that their leases paid, and adds them to the sums; `accounts` pay, by the ledger transaction of each.
 * Rejects with `AlreadyBooked` if some are there already.
 */
export async function insertNew(
  trx: Transaction<Schema>,
  batch: readonly BookableEvent[],
  { accounts, canCopy }: Payers,
): Promise<void> {
  const nowMs = Date.now()
  const copyable: CopyableEvent[] = []
  const otherRecords: string[] = []
  for (const event of batch) {
    if (canCopy && isCopyable(event, nowMs)) copyable.push(event)
    else otherRecords.push(event.record)
  }
  if (
    otherRecords.length > 0 &&
    (await insertBooked(trx, otherRecords, accounts)) < otherRecords.length
  )
    throw new AlreadyBooked()
  await copyBooked(trx, copyable, accounts).catch((thrown: unknown) => {
    throw isRefused(thrown) ? new AlreadyBooked({ cause: thrown }) : thrown
  })
}

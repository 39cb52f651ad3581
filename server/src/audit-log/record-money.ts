import type { Kysely } from 'kysely'
import { recordChange, type Action } from './organization-trail'
import { isId } from '../db/id'
import type { Schema } from '../db/schema'

interface Movement {
  /** Whose money it is. */
  accountId: string
  /** Of the payment, or of the transaction where there is none. */
  id: string
  /** Nano-dollars; negative takes. */
  amount: bigint
  /** As the ledger has it. */
  description?: string
}

/** Puts on record what comes to the pool of an organization, or leaves it other than by usage. */
export async function recordMoney(
  db: Kysely<Schema>,
  action: Action,
  { accountId, id, ...after }: Movement,
): Promise<void> {
  if (!isId('org', accountId)) return
  await recordChange(db, {
    organizationId: accountId,
    action,
    objectId: id,
    objectName: null,
    after,
  })
}

import type { Kysely } from 'kysely'
import { recordChange, type Action } from './organization-trail'
import { isId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

interface Movement {
  /** The account that holds the money. */
  accountId: string
  /** Id of the payment, or of the transaction where there is no payment. */
  id: string
  /** Nano-dollars; negative for a debit. */
  amount: bigint
  /** The ledger's description. */
  description?: string
}

/** Records credit that an organization's pool gains, or loses other than by usage. */
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

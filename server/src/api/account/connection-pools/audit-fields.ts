import type { Selectable, Transaction } from 'kysely'
import type { ConnectionPoolRow, Schema } from '../../../platform/db/schema'
import {
  recordChange,
  type Action,
  type RecordedFields,
} from '../../../audit-log/organization-trail'

/** Reads the fields of a pool for an organization's audit log; the caller's transaction holds the pool's lock. */
export async function toRecordedPool(
  trx: Transaction<Schema>,
  id: string,
): Promise<RecordedFields | undefined> {
  const row = await trx
    .selectFrom('connection_pool')
    .select(['name', 'provider', 'billing_mode', 'strategy', 'enabled'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!row) return undefined
  const members = await trx
    .selectFrom('connection_pool_member')
    .select('connection_id')
    .where('pool_id', '=', id)
    .orderBy('position')
    .execute()
  return { ...row, connection_ids: members.map((member) => member.connection_id) }
}

interface Change {
  row: Pick<Selectable<ConnectionPoolRow>, 'id' | 'name' | 'organization_id'>
  before?: RecordedFields | undefined
  after?: RecordedFields | undefined
}

/** Records a change of an organization's pool; an account's changes to its own are not recorded. */
export async function recordPool(
  trx: Transaction<Schema>,
  action: Action,
  { row, before, after }: Change,
): Promise<void> {
  const { id, name, organization_id: organizationId } = row
  if (organizationId === null) return
  await recordChange(trx, {
    organizationId,
    action,
    objectId: id,
    objectName: name,
    ...(before && { before }),
    ...(after && { after }),
  })
}

import type { Selectable, Transaction } from 'kysely'
import type { ModelCollectionRow } from '../../../platform/db/name-schema'
import type { Schema } from '../../../platform/db/schema'
import { recordChange, type RecordedFields } from '../../../audit-log/organization-trail'

/** Reads the fields of a collection for an organization's audit log; undefined for an unknown one. */
async function collectionAuditFields(
  trx: Transaction<Schema>,
  id: string,
): Promise<RecordedFields | undefined> {
  const row = await trx
    .selectFrom('model_collection')
    .select(['name', 'display_name', 'description', 'routing_strategy', 'enabled'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return undefined
  const members = await trx
    .selectFrom('model_collection_member')
    .select(['model_id', 'priority', 'weight', 'enabled'])
    .where('collection_id', '=', id)
    .orderBy('priority')
    .orderBy('position')
    .execute()
  return { ...row, members }
}

/**
 * Changes a collection, and records the change where it is an organization's: an account's changes to its own are
 * not recorded, and those of system collections are in the operators' audit log.
 */
export async function recordCollection(
  trx: Transaction<Schema>,
  {
    id,
    name,
    organization_id: organizationId,
  }: Pick<Selectable<ModelCollectionRow>, 'id' | 'name' | 'organization_id'>,
  work: () => Promise<unknown>,
): Promise<void> {
  if (organizationId === null) return void (await work())
  const before = await collectionAuditFields(trx, id)
  await work()
  const after = await collectionAuditFields(trx, id)
  const deed = before ? (after ? 'changed' : 'deleted') : 'created'
  await recordChange(trx, {
    organizationId,
    action: `collection.${deed}`,
    objectId: id,
    objectName: name,
    ...(before && { before }),
    ...(after && { after }),
  })
}

import type { Selectable, Transaction } from 'kysely'
import type { ModelCollectionRow } from '../../db/name-schema'
import type { Schema } from '../../db/schema'
import { recordChange, type RecordedFields } from '../../audit-log/organization-trail'

/** What the trail of an organization tells of a collection; undefined where there is none. */
async function toldCollection(
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
 * Does something with a collection, and has it on record where it is an organization's: what an account
 * does with its own is nobody's business, and of the system's the operator's trail tells.
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
  const before = await toldCollection(trx, id)
  await work()
  const after = await toldCollection(trx, id)
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

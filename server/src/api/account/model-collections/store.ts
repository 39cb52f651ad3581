import type { Kysely, Selectable, Transaction } from 'kysely'
import { addMembers, checkMembers, replaceMembers, toMembers, type IsKnown } from './members'
import { recordCollection } from './audit-fields'
import { checkRole, selectVisibleCollections, findRoles, findSystemCollections } from './owners'
import type { ChangedCollection, NewCollection, NewMembers, NewSystemCollection } from './schema'
import { collectionPrefix } from '../../../catalog/collection'
import { lockOwner } from '../../../platform/db/account-row'
import { isId, newId } from '../../../platform/db/id'
import type { ModelCollectionMemberRow, ModelCollectionRow } from '../../../platform/db/name-schema'
import type { Schema } from '../../../platform/db/schema'
import { noteCreated } from '../../../platform/db/background-work'
import { isUniqueViolation } from '../../../platform/db/violation'
import { ApiError, invalidRequest } from '../../../errors'
import { present, toTimestamp } from '../../../http/fields'
import type { Page } from '../../../http/paging'

const maxCollections = { individual: 100, organization: 200, system: Infinity }

type Row = Selectable<ModelCollectionRow>
type MemberRow = Selectable<ModelCollectionMemberRow>

const toCollection = (row: Row, members: readonly MemberRow[]) => ({
  id: row.id,
  name: row.name,
  display_name: row.display_name,
  description: row.description,
  model_id: `${collectionPrefix}${row.name}`,
  scope: row.scope,
  organization_id: row.organization_id,
  routing_strategy: row.routing_strategy,
  enabled: row.enabled,
  members: members.map((member) => ({
    model_id: member.model_id,
    priority: member.priority,
    weight: member.weight,
    enabled: member.enabled,
    added_at: toTimestamp(member.added_at),
  })),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

const rejectTakenName = (thrown: unknown) => {
  if (!isUniqueViolation(thrown)) throw thrown
  throw invalidRequest('name', 'taken', 'name: a collection with this name already exists.')
}

/** The caller: an account by its id, or the operator. */
export type Asker = { userId: string } | 'operator'

export interface CollectionStoreOptions {
  db: Kysely<Schema>
  /** Returns the models that exist for an account, or for every account. */
  knownModelsOf: (asker: Asker) => Promise<IsKnown>
  /** Called when an owner's collections have changed, with null for the system's. */
  changed: (ownerId: string | null) => Promise<void>
}

export type CollectionStore = ReturnType<typeof createCollectionStore>

/**
 * Collections, for their owners and for the operator. All reject with `resource_not_found` for ids that the caller
 * may not see, and with `insufficient_permissions` for those that it may only see.
 */
export function createCollectionStore({ db, knownModelsOf, changed }: CollectionStoreOptions) {
  /** Runs a change in a transaction that locks the collection. */
  async function write(asker: Asker, id: string, work: (trx: Trx, row: Row) => Promise<unknown>) {
    const row = await db.transaction().execute(async (trx) => {
      const collection = await lockedFor(trx, asker, id)
      await recordCollection(trx, collection, () => work(trx, collection))
      return collection
    })
    await changed(row.user_id ?? row.organization_id)
  }
  const read = async (id: string) => {
    const [collection] = await withMembers(db, await rowsOf(db, id))
    if (!collection) throw new ApiError('resource_not_found')
    return collection
  }

  return {
    list: (userId: string, scope: Row['scope'] | undefined) => listVisible(db, userId, scope),
    listSystem: (page: Page, search: string | undefined) => listSystem(db, page, search),
    async create(asker: Asker, fields: NewCollection | NewSystemCollection) {
      const owner = await ownerFor(db, asker, fields)
      checkMembers(fields.members, await knownModelsOf(asker), ofList)
      const id = await insertCollection(db, owner, fields)
      await changed(owner.user_id ?? owner.organization_id)
      return read(id)
    },
    async change(asker: Asker, id: string, { members, ...fields }: ChangedCollection) {
      const isKnown = await knownModelsOf(asker)
      await write(asker, id, async (trx) => {
        if (members) checkMembers(members, isKnown, ofList)
        await changeColumns(trx, id, fields)
        if (members) await replaceMembers(trx, id, members)
      })
      return read(id)
    },
    async delete(asker: Asker, id: string) {
      await write(asker, id, (trx) =>
        trx.deleteFrom('model_collection').where('id', '=', id).execute(),
      )
      return { success: true as const, message: 'The collection was deleted.' }
    },
    async add(asker: Asker, id: string, fields: NewMembers) {
      const added = toMembers(fields)
      const isKnown = await knownModelsOf(asker)
      await write(asker, id, async (trx) => {
        checkMembers(added.members, isKnown, added.at)
        await addMembers(trx, id, added)
        await changeColumns(trx, id, {})
      })
      return read(id)
    },
  }
}

type Trx = Transaction<Schema>

async function listVisible(db: Kysely<Schema>, userId: string, scope: Row['scope'] | undefined) {
  return { collections: await withMembers(db, await selectVisibleCollections(db, userId, scope)) }
}

async function listSystem(db: Kysely<Schema>, page: Page, search: string | undefined) {
  const { items, pagination } = await findSystemCollections(db, page, search)
  return { collections: await withMembers(db, items), pagination }
}

async function insertCollection(
  db: Kysely<Schema>,
  owner: Owner,
  { members, ...fields }: NewCollection | NewSystemCollection,
): Promise<string> {
  const id = newId('coll')
  const { name, display_name, description, routing_strategy, enabled } = fields
  const row = { id, ...owner, name, display_name, description, routing_strategy, enabled }
  noteCreated(id)
  await db.transaction().execute(async (trx) => {
    await checkCount(trx, owner)
    await recordCollection(trx, row, async () => {
      await trx.insertInto('model_collection').values(row).execute().catch(rejectTakenName)
      await replaceMembers(trx, id, members)
    })
  })
  return id
}

const changeColumns = (trx: Trx, id: string, fields: Omit<ChangedCollection, 'members'>) =>
  trx
    .updateTable('model_collection')
    .set({ ...present(fields), updated_at: new Date() })
    .where('id', '=', id)
    .execute()
    .catch(rejectTakenName)

const ofList = (position: number) => `members.${position}.model_id`

type Owner = Pick<Row, 'scope' | 'user_id' | 'organization_id'>

/** Returns the owner of a new collection. Rejects where the caller may not create it. */
async function ownerFor(
  db: Kysely<Schema>,
  asker: Asker,
  fields: NewCollection | NewSystemCollection,
): Promise<Owner> {
  if (asker === 'operator') return { scope: 'system', user_id: null, organization_id: null }
  const organizationId = 'organization_id' in fields ? fields.organization_id : undefined
  if (!organizationId) {
    return { scope: 'individual', user_id: asker.userId, organization_id: null }
  }
  const roles = await findRoles(db, asker.userId)
  checkRole(roles.get(organizationId))
  return { scope: 'organization', user_id: null, organization_id: organizationId }
}

async function lockedFor(trx: Trx, asker: Asker, id: string): Promise<Row> {
  const [row] = isId('coll', id)
    ? await trx
        .selectFrom('model_collection')
        .selectAll()
        .where('id', '=', id)
        .forUpdate()
        .execute()
    : []
  if (!row) throw new ApiError('resource_not_found')
  if (asker === 'operator') {
    if (row.scope !== 'system') throw new ApiError('resource_not_found')
    return row
  }
  if (row.scope === 'system') {
    throw new ApiError('insufficient_permissions', {
      message: 'This is a system collection; only the operator can change it.',
      details: { required: ['operator'], current: [] },
    })
  }
  if (row.scope === 'organization') {
    const roles = await findRoles(trx, asker.userId)
    checkRole(roles.get(row.organization_id ?? ''))
  } else if (row.user_id !== asker.userId) throw new ApiError('resource_not_found')
  return row
}

const rowsOf = (db: Kysely<Schema>, id: string) =>
  db.selectFrom('model_collection').selectAll().where('id', '=', id).execute()

async function withMembers(db: Kysely<Schema>, rows: readonly Row[]) {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const members = await db
    .selectFrom('model_collection_member')
    .selectAll()
    .where('collection_id', 'in', ids)
    .orderBy('priority')
    .orderBy('position')
    .execute()
  const byCollection = Map.groupBy(members, (member) => member.collection_id)
  return rows.map((row) => toCollection(row, byCollection.get(row.id) ?? []))
}

/** Locks the owner, so that concurrent requests count collections one after the other. */
async function checkCount(trx: Trx, owner: Owner): Promise<void> {
  const { scope, user_id, organization_id } = owner
  if (scope === 'system') return
  await lockOwner(trx, owner)
  const { total } = await trx
    .selectFrom('model_collection')
    .where(user_id ? 'user_id' : 'organization_id', '=', user_id ?? organization_id)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total < maxCollections[scope]) return
  const message = `The limit of ${maxCollections[scope]} collections in this scope is reached.`
  throw invalidRequest(null, 'limit_reached', message)
}

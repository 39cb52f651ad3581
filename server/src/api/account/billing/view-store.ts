import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import { findBilledAccount, type BilledAccount } from './billed-account'
import { maxViews, type ChangedView, type NewView, type SavedView } from './view-schema'
import type { Principal } from '../../../auth/principal'
import { recordChange } from '../../../audit-log/organization-trail'
import { ApiError, invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { lockOwner, requireRow } from '../../../platform/db/account-row'
import { newId } from '../../../platform/db/id'
import type { SavedViewRow } from '../../../platform/db/invoice-schema'
import type { Schema } from '../../../platform/db/schema'
import { isUniqueViolation } from '../../../platform/db/violation'

export type ViewStore = ReturnType<typeof createViewStore>

type Row = Selectable<SavedViewRow>

const toView = (row: Row): SavedView => ({
  id: row.id,
  organization_id: row.organization_id,
  name: row.name,
  parameters: row.parameters,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

const ownerOf = ({ id, organizationId }: BilledAccount) => ({
  user_id: organizationId === null ? id : null,
  organization_id: organizationId,
})

const nameTaken = (thrown: unknown) =>
  isUniqueViolation(thrown)
    ? invalidRequest('name', 'taken', 'name: another view has this name.')
    : thrown

/**
 * Views of usage that were saved, of the account or of organizations that it manages. Foreign and unknown ids reject with
 * `resource_not_found`, members that do not manage the organization with `insufficient_permissions`.
 */
export function createViewStore(db: Kysely<Schema>) {
  async function find(principal: Principal, id: string): Promise<Row> {
    const row = await requireRow('view', id, () =>
      db.selectFrom('saved_view').selectAll().where('id', '=', id).executeTakeFirst(),
    )
    if (row.organization_id !== null) {
      await findBilledAccount(db, principal, row.organization_id)
    } else if (row.user_id !== principal.userId) throw new ApiError('resource_not_found')
    return row
  }
  return {
    /** The organization of a view that the caller may see; null for the account's own. */
    organizationOf: async (principal: Principal, id: string) =>
      (await find(principal, id)).organization_id,
    async list(principal: Principal, organizationId: string | undefined) {
      const account = await findBilledAccount(db, principal, organizationId)
      const column = account.organizationId === null ? 'user_id' : 'organization_id'
      const rows = await db
        .selectFrom('saved_view')
        .selectAll()
        .where(column, '=', account.id)
        .orderBy(sql`lower(name)`)
        .orderBy('id')
        .execute()
      return { views: rows.map(toView) }
    },
    async create(principal: Principal, view: NewView) {
      const account = await findBilledAccount(db, principal, view.organization_id)
      return db.transaction().execute((trx) => insert(trx, account, view))
    },
    async change(principal: Principal, id: string, fields: ChangedView) {
      await find(principal, id)
      return db.transaction().execute((trx) => change(trx, id, fields))
    },
    async delete(principal: Principal, id: string) {
      await find(principal, id)
      await db.transaction().execute((trx) => remove(trx, id))
      return { success: true as const, message: 'The view was deleted.' }
    },
  }
}

async function change(trx: Transaction<Schema>, id: string, fields: ChangedView) {
  const before = await lockRow(trx, id)
  const row = await update(trx, id, fields)
  if (row.organization_id !== null) {
    await recordChange(trx, {
      ...toObject(row, row.organization_id),
      action: 'view.changed',
      before: toRecorded(before),
      after: toRecorded(row),
    })
  }
  return toView(row)
}

async function remove(trx: Transaction<Schema>, id: string): Promise<void> {
  const before = await lockRow(trx, id)
  await trx.deleteFrom('saved_view').where('id', '=', id).execute()
  if (before.organization_id === null) return
  await recordChange(trx, {
    ...toObject(before, before.organization_id),
    action: 'view.deleted',
    before: toRecorded(before),
  })
}

const toRecorded = ({ name, parameters }: Row) => ({ name, parameters })

const toObject = ({ id, name }: Row, organizationId: string) => ({
  organizationId,
  objectId: id,
  objectName: name,
})

const lockRow = (trx: Transaction<Schema>, id: string): Promise<Row> =>
  trx
    .selectFrom('saved_view')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(() => new ApiError('resource_not_found'))

const update = (
  trx: Transaction<Schema>,
  id: string,
  { name, parameters }: ChangedView,
): Promise<Row> =>
  trx
    .updateTable('saved_view')
    .set({
      ...(name !== undefined && { name }),
      ...(parameters !== undefined && { parameters: JSON.stringify(parameters) }),
      updated_at: new Date(),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((thrown: unknown) => {
      throw nameTaken(thrown)
    })

/** Counts are exact for concurrent requests too: they wait at the row of their owner. */
async function insert(
  trx: Transaction<Schema>,
  account: BilledAccount,
  { name, parameters }: NewView,
): Promise<SavedView> {
  const owner = ownerOf(account)
  await lockOwner(trx, owner)
  const column = account.organizationId === null ? 'user_id' : 'organization_id'
  const { total } = await trx
    .selectFrom('saved_view')
    .where(column, '=', account.id)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total >= maxViews) {
    throw invalidRequest(null, 'limit_reached', `At most ${maxViews} views can be saved.`)
  }
  const row = await trx
    .insertInto('saved_view')
    .values({ id: newId('view'), ...owner, name, parameters: JSON.stringify(parameters) })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((thrown: unknown) => {
      throw nameTaken(thrown)
    })
  if (account.organizationId !== null) {
    await recordChange(trx, {
      ...toObject(row, account.organizationId),
      action: 'view.created',
      after: toRecorded(row),
    })
  }
  return toView(row)
}

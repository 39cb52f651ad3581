import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import { requireRow, lockOwner, type Owner } from '../../../platform/db/account-row'
import { recordPool, toRecordedPool } from './audit-fields'
import type { ChangedPool, NewPool, PoolFilters } from './schema'
import { isVisibleTo, permitChange, roleOver } from '../../../auth/owned-rows'
import { permit, type Principal } from '../../../auth/principal'
import { managers, requireRole, findRole, type Role } from '../../../auth/roles'
import type { Catalog } from '../../../catalog/catalog'
import { newId } from '../../../platform/db/id'
import type { ConnectionPoolRow, Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { present, toTimestamp } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'

/** Source: contract 3.3; an organization may have more in the same ratio as its connections. */
const maxOfAccount = 50
const maxOfOrganization = 250

interface PoolPorts {
  db: Kysely<Schema>
  catalog: Catalog
  /** Called when an account or an organization was changed. */
  changed: (ownerId: string) => void
}

/** A pool that the caller may see, with its role where the pool is an organization's. */
type VisiblePool = Selectable<ConnectionPoolRow> & { role: Role | null; members: string[] }

const toPool = (row: VisiblePool) => ({
  id: row.id,
  name: row.name,
  provider: row.provider,
  scope: row.scope,
  organization_id: row.organization_id,
  billing_mode: row.billing_mode,
  strategy: row.strategy,
  connection_ids: row.members,
  enabled: row.enabled,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

const ownerOf = ({ user_id: user, organization_id: organization }: VisiblePool) =>
  user ?? organization ?? ''

export type PoolStore = ReturnType<typeof createPoolStore>

/**
 * Pools of accounts and of organizations. All reject with `resource_not_found` for pools that the caller may not
 * see, and with `insufficient_permissions` for those that it may see and not change.
 */
export function createPoolStore({ db, catalog, changed }: PoolPorts) {
  return {
    list: (caller: Principal, filters: PoolFilters, page: Page) =>
      listPools(db, caller.userId, { filters, page }),
    get: async (caller: Principal, id: string) => toPool(await findVisible(db, caller, id)),
    async create(caller: Principal, fields: NewPool) {
      const { organization_id: organizationId } = fields
      if (organizationId !== undefined) {
        permit(caller, 'admin')
        requireRole(await findRole(db, caller.userId, organizationId), managers)
      }
      if (!catalog.snapshot.providers.has(fields.provider)) {
        const message = `provider: "${fields.provider}" does not exist.`
        throw invalidRequest('provider', 'unknown_value', message)
      }
      const id = await insert(db, caller.userId, fields)
      changed(organizationId ?? caller.userId)
      return toPool(await findVisible(db, caller, id))
    },
    async change(caller: Principal, id: string, fields: ChangedPool) {
      const row = await findManaged(db, caller, id)
      await update(db, row, fields)
      changed(ownerOf(row))
      return toPool(await findVisible(db, caller, id))
    },
    async delete(caller: Principal, id: string) {
      const row = await findManaged(db, caller, id)
      await db.transaction().execute(async (trx) => {
        const before = await toRecordedPool(trx, row.id)
        await trx.deleteFrom('connection_pool').where('id', '=', row.id).execute()
        if (before) await recordPool(trx, 'pool.deleted', { row, before })
      })
      changed(ownerOf(row))
      return { success: true as const, message: 'The pool was deleted.' }
    },
  }
}

const members = sql<string[]>`array(
  select connection_id from connection_pool_member as member
  where member.pool_id = connection_pool.id order by position
)`

const visiblePools = (db: Kysely<Schema>, userId: string) =>
  db
    .selectFrom('connection_pool')
    .selectAll('connection_pool')
    .select([roleOver('connection_pool', userId).as('role'), members.as('members')])
    .where(isVisibleTo('connection_pool', userId))

async function findVisible(
  db: Kysely<Schema>,
  { userId }: Principal,
  id: string,
): Promise<VisiblePool> {
  return requireRow('pool', id, () =>
    visiblePools(db, userId).where('connection_pool.id', '=', id).executeTakeFirst(),
  )
}

async function findManaged(
  db: Kysely<Schema>,
  caller: Principal,
  id: string,
): Promise<VisiblePool> {
  const row = await findVisible(db, caller, id)
  permitChange(caller, row.role)
  return row
}

const insert = (db: Kysely<Schema>, userId: string, fields: NewPool) =>
  db.transaction().execute(async (trx) => {
    const { connection_ids: ids, organization_id: organizationId, billing_mode: mode } = fields
    const isOrganization = organizationId !== undefined
    const owner: Owner = isOrganization
      ? { user_id: null, organization_id: organizationId }
      : { user_id: userId, organization_id: null }
    await lockOwner(trx, owner)
    await checkCount(trx, owner)
    const first = await checkMembers(trx, { ...owner, provider: fields.provider }, ids)
    const id = newId('pool')
    await trx
      .insertInto('connection_pool')
      .values({
        id,
        ...owner,
        name: fields.name,
        provider: fields.provider,
        scope: fields.scope,
        // The default is the mode of the members: a pool never switches it without a request to do so.
        billing_mode: isOrganization ? (mode ?? first ?? 'org_pays') : null,
        strategy: fields.strategy,
        enabled: fields.enabled,
      })
      .execute()
    await insertMembers(trx, id, ids)
    const row = { id, name: fields.name, organization_id: owner.organization_id }
    await recordPool(trx, 'pool.created', { row, after: await toRecordedPool(trx, id) })
    return id
  })

const ofOwner = (trx: Transaction<Schema>, { user_id, organization_id }: Owner) =>
  trx
    .selectFrom('connection_pool')
    .where((is) =>
      is.or([is('user_id', '=', user_id), is('organization_id', '=', organization_id)]),
    )

async function checkCount(trx: Transaction<Schema>, owner: Owner): Promise<void> {
  const { total } = await ofOwner(trx, owner)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  const max = owner.organization_id === null ? maxOfAccount : maxOfOrganization
  if (total < max) return
  const ownerName = owner.organization_id === null ? 'An account' : 'An organization'
  throw invalidRequest(null, 'limit_reached', `${ownerName} has at most ${max} connection pools.`)
}

/** Checks that all share provider and owner. Resolves with the billing mode of the first. */
async function checkMembers(
  trx: Transaction<Schema>,
  { user_id, organization_id, provider }: Owner & { provider: string },
  ids: readonly string[],
) {
  const rows = await trx
    .selectFrom('connection')
    .select(['id', 'billing_mode'])
    .where('id', 'in', ids)
    .where('provider', '=', provider)
    .where((is) =>
      is.or([is('user_id', '=', user_id), is('organization_id', '=', organization_id)]),
    )
    // The lock keeps them from being deleted before they are members.
    .orderBy('id')
    .forKeyShare()
    .execute()
  const billingModes = new Map(rows.map((row) => [row.id, row.billing_mode]))
  const at = ids.findIndex((id) => !billingModes.has(id))
  if (at < 0) return billingModes.get(ids[0] ?? '')
  const param = `connection_ids.${at}`
  const message = `${param}: is not one of your connections to "${provider}" in this scope.`
  throw invalidRequest(param, 'unknown_value', message)
}

const insertMembers = (trx: Transaction<Schema>, poolId: string, ids: readonly string[]) =>
  trx
    .insertInto('connection_pool_member')
    .values(ids.map((id, position) => ({ pool_id: poolId, connection_id: id, position })))
    .execute()

const update = (db: Kysely<Schema>, row: VisiblePool, fields: ChangedPool) =>
  db.transaction().execute(async (trx) => {
    const { connection_ids: ids, ...columns } = fields
    if (columns.billing_mode !== undefined && row.organization_id === null) {
      const message = 'billing_mode: only allowed for scope "organization".'
      throw invalidRequest('billing_mode', 'not_allowed', message)
    }
    // First, as it locks the pool: concurrent changes wait for each other.
    const before = await toRecordedPool(trx, row.id)
    await trx
      .updateTable('connection_pool')
      .set({ ...present(columns), updated_at: new Date() })
      .where('id', '=', row.id)
      .execute()
    if (ids) {
      await checkMembers(trx, row, ids)
      await trx.deleteFrom('connection_pool_member').where('pool_id', '=', row.id).execute()
      await insertMembers(trx, row.id, ids)
    }
    await recordPool(trx, 'pool.changed', { row, before, after: await toRecordedPool(trx, row.id) })
  })

interface Listing {
  filters: PoolFilters
  page: Page
}

async function listPools(db: Kysely<Schema>, userId: string, { filters, page }: Listing) {
  let filtered = visiblePools(db, userId)
  for (const name of ['provider', 'scope'] as const) {
    const value = filters[name]
    if (value !== undefined) filtered = filtered.where(`connection_pool.${name}`, '=', value)
  }
  const { items, pagination } = await queryPage(db, filtered, { page })
  return { pools: items.map(toPool), pagination }
}

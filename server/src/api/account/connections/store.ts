import type { Kysely, Transaction } from 'kysely'
import { requireRow, lockOwner } from '../../../platform/db/account-row'
import { testConnection, type ConnectionPorts } from './list-models'
import { clearDefault, insertConnection, type Owner } from './insert'
import { recordConnection, toldConnection } from './recorded'
import {
  checkChange,
  checkProvider,
  leadsElsewhere,
  refuseSecrets,
  toColumns,
  toSecretColumns,
} from './rules'
import type { ChangedConnection, Filters, NewConnection } from './schema'
import { findManaged, findSeen, isManager, ownerOf, seenBy, type Seen } from './visible-connections'
import { toShown } from './connection-answer'
import { permit, type Principal } from '../../../auth/principal'
import { managers, requireRole, findRole } from '../../../auth/roles'
import { replaceServedModels } from '../../../catalog/discovered-models'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'

/**
 * Checks whether Tollgate may call an address that a customer sets: returns its normal form, or the reason why not.
 */
export type CheckAddress = (
  address: string,
  owner: string,
) => Promise<{ href: string; refusal?: never } | { href?: never; refusal: string }>

export interface OwnedConnectionPorts extends ConnectionPorts {
  checkAddress: CheckAddress
  /** Called when an account or an organization was changed. */
  changed: (ownerId: string) => void
}

const shown = (row: Seen) => toShown(row, { isManager: isManager(row) })

export type ConnectionStore = ReturnType<typeof createConnectionStore>

/**
 * Connections of accounts and of organizations. All reject with `resource_not_found` for connections that the
 * caller may not see, and with `insufficient_permissions` for those that it may see and not change.
 */
export function createConnectionStore(ports: OwnedConnectionPorts) {
  const { db, sealingKeys, changed } = ports

  return {
    list: (caller: Principal, filters: Filters, page: Page) =>
      listConnections(db, caller.userId, { filters, page }),
    get: async (caller: Principal, id: string) => shown(await findSeen(db, caller, id)),
    create: (caller: Principal, fields: NewConnection) => create(ports, caller, fields),
    async change(caller: Principal, id: string, fields: ChangedConnection) {
      const row = await findManaged(db, caller, id)
      if (fields.billing_mode !== undefined && row.scope !== 'organization') {
        const words = 'billing_mode: only for scope "organization".'
        throw invalidRequest('billing_mode', 'not_allowed', words)
      }
      const address =
        fields.endpoint_url && (await checked(ports, fields.endpoint_url, ownerOf(row)))
      return update(ports, row, { ...fields, ...(address && { endpoint_url: address }) })
    },
    async updateKey(caller: Principal, id: string, secret: string) {
      const row = await findManaged(db, caller, id)
      refuseSecrets(row, { api_key: secret })
      const columns = toSecretColumns(secret, id, sealingKeys)
      await db.transaction().execute(async (trx) => {
        const written = await trx
          .updateTable('connection')
          .set({ ...columns, status: 'active', last_error: null, updated_at: new Date() })
          .where('id', '=', row.id)
          .executeTakeFirst()
        if (written.numUpdatedRows === 0n) throw new ApiError('resource_not_found')
        await recordConnection(trx, 'connection.key_replaced', { row, after: { api_key: '[set]' } })
      })
      changed(ownerOf(row))
      return { success: true as const, message: 'The key was replaced.' }
    },
    async delete(caller: Principal, id: string) {
      const row = await findManaged(db, caller, id)
      await db.transaction().execute(async (trx) => {
        const gone = await trx
          .deleteFrom('connection')
          .where('id', '=', row.id)
          .returningAll()
          .executeTakeFirst()
        if (!gone) return
        const before = toldConnection(gone)
        await recordConnection(trx, 'connection.deleted', { row: gone, before })
      })
      changed(ownerOf(row))
      return { success: true as const, message: 'The connection was deleted.' }
    },
    async test(caller: Principal, id: string) {
      const row = await findManaged(db, caller, id)
      const answer = await testConnection(ports, row)
      changed(ownerOf(row))
      return answer
    },
  }
}

/** Checks the row as it is at the write: a secret stays with the address that it was given for. */
async function update(ports: OwnedConnectionPorts, seen: Seen, wanted: ChangedConnection) {
  const { db, catalog, sealingKeys, changed } = ports
  const written = await db.transaction().execute(async (trx) => {
    if (wanted.is_default) await lockOwner(trx, seen)
    const row = await trx
      .selectFrom('connection')
      .selectAll()
      .where('id', '=', seen.id)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!row) throw new ApiError('resource_not_found')
    const columns = toColumns(row, wanted, sealingKeys)
    checkChange(catalog, row, columns)
    if (columns.is_default) await clearDefault(trx, row)
    if (leadsElsewhere(row, wanted)) {
      await trx.deleteFrom('connection_model').where('connection_id', '=', row.id).execute()
    }
    const changed = await trx
      .updateTable('connection')
      .set({ ...columns, updated_at: new Date() })
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordConnection(trx, 'connection.changed', {
      row: changed,
      before: toldConnection(row),
      after: {
        ...toldConnection(changed),
        ...(wanted.api_key !== undefined && { api_key: '[set]' }),
      },
    })
    return changed
  })
  changed(ownerOf(seen))
  return shown({ ...written, role: seen.role })
}

/** Rejects with `invalid_request`. */
async function checked(
  { checkAddress }: OwnedConnectionPorts,
  address: string,
  owner: string,
): Promise<string> {
  const { href, refusal } = await checkAddress(address, owner)
  if (refusal === undefined) return href
  throw invalidRequest('endpoint_url', 'not_allowed', `endpoint_url: ${refusal}`)
}

async function create(ports: OwnedConnectionPorts, caller: Principal, fields: NewConnection) {
  const { db, catalog, sealingKeys } = ports
  const { organization_id: organizationId, api_key: secret } = fields
  if (organizationId !== undefined) permit(caller, 'admin')
  const role =
    organizationId === undefined ? null : await findRole(db, caller.userId, organizationId)
  if (role !== null) requireRole(role, managers)
  const owner: Owner =
    organizationId === undefined
      ? { user_id: caller.userId, organization_id: null }
      : { user_id: null, organization_id: organizationId }
  const ownerId = organizationId ?? caller.userId
  const provider = checkProvider(catalog, fields)
  const address = fields.endpoint_url && (await checked(ports, fields.endpoint_url, ownerId))
  const id = newId('conn')
  const row = await db.transaction().execute(async (trx) => {
    const gateway = fields.gateway_id && (await gatewayOf(trx, owner, fields.gateway_id))
    const made = await insertConnection(trx, {
      id,
      owner,
      name: fields.name,
      provider: provider.key,
      gateway_type: fields.gateway_type,
      gateway_id: fields.gateway_id ?? null,
      endpoint_url: address ?? null,
      billing_mode: fields.billing_mode,
      is_default: fields.is_default,
      priority: fields.priority,
      rate_limits: fields.rate_limits,
      sealed: secret === undefined ? undefined : toSecretColumns(secret, id, sealingKeys),
    })
    await recordConnection(trx, 'connection.created', { row: made, after: toldConnection(made) })
    if (!gateway) return made
    const { snapshot } = catalog
    const modelCount = await replaceServedModels(trx, made, { snapshot, served: gateway.models })
    return { ...made, model_count: modelCount }
  })
  ports.changed(ownerId)
  return shown({ ...row, role: role ?? null })
}

/** Locks a gateway of the same owner and reads its capabilities. Rejects with `resource_not_found`. */
const gatewayOf = (trx: Transaction<Schema>, owner: Owner, id: string) =>
  requireRow('gw', id, () =>
    trx
      .selectFrom('gateway')
      .select('models')
      .where('id', '=', id)
      .where('user_id', 'is not distinct from', owner.user_id)
      .where('organization_id', 'is not distinct from', owner.organization_id)
      // Announcements of the gateway wait for the lock, and then find the connection.
      .forUpdate()
      .executeTakeFirst(),
  )

interface Listing {
  filters: Filters
  page: Page
}

async function listConnections(db: Kysely<Schema>, userId: string, { filters, page }: Listing) {
  let filtered = seenBy(db, userId)
  for (const name of ['provider', 'gateway_type', 'status', 'scope', 'organization_id'] as const) {
    const value = filters[name]
    if (value !== undefined) filtered = filtered.where(`connection.${name}`, '=', value)
  }
  const { shown: seen, pagination } = await queryPage(db, filtered, { page })
  return { connections: seen.map(shown), pagination }
}

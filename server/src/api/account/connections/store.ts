import type { Kysely, Transaction } from 'kysely'
import { requireRow, lockOwner, type Owner } from '../../../platform/db/account-row'
import { testConnection, type ConnectionPorts } from './list-models'
import { clearDefault, insertConnection } from './insert'
import { toNetworkColumns, withoutNetwork } from './network-columns'
import { recordConnection, connectionAuditFields } from './recorded'
import {
  checkChange,
  checkProvider,
  changesAddress,
  refuseSecrets,
  toColumns,
  toSecretColumns,
} from './rules'
import {
  checkTimeouts,
  toTimeoutAnswer,
  toTimeoutColumns,
  type InstallationTimeouts,
} from './timeout-fields'
import type { ChangedConnection, ConnectionFilters, NewConnection } from './schema'
import {
  findManaged,
  findVisible,
  isManager,
  ownerOf,
  visibleConnections,
  type VisibleConnection,
} from './visible-connections'
import { toConnection } from './connection-answer'
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
  /** The timeouts of the installation, which those of connections never exceed. */
  timers: () => InstallationTimeouts
  /** Called when an account or an organization was changed. */
  changed: (ownerId: string) => void
}

const toAnswer = (row: VisibleConnection) => ({
  ...toConnection(row, { isManager: isManager(row) }),
  timeouts: isManager(row) ? toTimeoutAnswer(row.options) : null,
})

export type ConnectionStore = ReturnType<typeof createConnectionStore>

/**
 * Connections of accounts and of organizations. All reject with `resource_not_found` for connections that the
 * caller may not see, and with `insufficient_permissions` for those that it may see and not change.
 */
export function createConnectionStore(ports: OwnedConnectionPorts) {
  const { db, sealingKeys, changed } = ports

  return {
    list: (caller: Principal, filters: ConnectionFilters, page: Page) =>
      listConnections(db, caller.userId, { filters, page }),
    get: async (caller: Principal, id: string) => toAnswer(await findVisible(db, caller, id)),
    create: (caller: Principal, fields: NewConnection) => create(ports, caller, fields),
    async change(caller: Principal, id: string, fields: ChangedConnection) {
      const row = await findManaged(db, caller, id)
      if (fields.billing_mode !== undefined && row.scope !== 'organization') {
        const message = 'billing_mode: only allowed for scope "organization".'
        throw invalidRequest('billing_mode', 'not_allowed', message)
      }
      checkTimeouts(fields.timeouts, ports.timers())
      const address =
        fields.endpoint_url && (await resolveAddress(ports, fields.endpoint_url, ownerOf(row)))
      return update(ports, row, { ...fields, ...(address && { endpoint_url: address }) })
    },
    async updateKey(caller: Principal, id: string, secret: string) {
      const row = await findManaged(db, caller, id)
      refuseSecrets(row, { api_key: secret })
      const columns = toSecretColumns(secret, id, sealingKeys)
      await db.transaction().execute(async (trx) => {
        const updated = await trx
          .updateTable('connection')
          .set({ ...columns, status: 'active', last_error: null, updated_at: new Date() })
          .where('id', '=', row.id)
          .executeTakeFirst()
        if (updated.numUpdatedRows === 0n) throw new ApiError('resource_not_found')
        await recordConnection(trx, 'connection.key_replaced', { row, after: { api_key: '[set]' } })
      })
      changed(ownerOf(row))
      return { success: true as const, message: 'The key was replaced.' }
    },
    async delete(caller: Principal, id: string) {
      const row = await findManaged(db, caller, id)
      await db.transaction().execute(async (trx) => {
        const deleted = await trx
          .deleteFrom('connection')
          .where('id', '=', row.id)
          .returningAll()
          .executeTakeFirst()
        if (!deleted) return
        const before = connectionAuditFields(deleted)
        await recordConnection(trx, 'connection.deleted', { row: deleted, before })
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
async function update(
  ports: OwnedConnectionPorts,
  visible: VisibleConnection,
  changes: ChangedConnection,
) {
  const { db, catalog, sealingKeys, changed } = ports
  const updated = await db.transaction().execute(async (trx) => {
    if (changes.is_default) await lockOwner(trx, visible)
    const row = await trx
      .selectFrom('connection')
      .selectAll()
      .where('id', '=', visible.id)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!row) throw new ApiError('resource_not_found')
    const columns = toColumns(row, changes, sealingKeys)
    checkChange(catalog, row, { columns, changed: changes })
    if (columns.is_default) await clearDefault(trx, row)
    if (changesAddress(row, changes)) {
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
      before: connectionAuditFields(row),
      after: {
        ...connectionAuditFields(changed),
        ...(changes.api_key !== undefined && { api_key: '[set]' }),
        ...(changes.network?.headers && { headers: '[set]' }),
      },
    })
    return changed
  })
  changed(ownerOf(visible))
  return toAnswer({ ...updated, role: visible.role })
}

/** Rejects with `invalid_request`. */
async function resolveAddress(
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
  checkTimeouts(fields.timeouts, ports.timers())
  const address = fields.endpoint_url && (await resolveAddress(ports, fields.endpoint_url, ownerId))
  const id = newId('conn')
  const row = await db.transaction().execute(async (trx) => {
    const gateway = fields.gateway_id && (await gatewayOf(trx, owner, fields.gateway_id))
    const inserted = await insertConnection(trx, {
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
      ...toTimeoutColumns(fields.timeouts),
      sealed: secret === undefined ? undefined : toSecretColumns(secret, id, sealingKeys),
      network: toNetworkColumns(withoutNetwork(id), { fields: fields.network }, sealingKeys),
    })
    await recordConnection(trx, 'connection.created', {
      row: inserted,
      after: connectionAuditFields(inserted),
    })
    if (!gateway) return inserted
    const { snapshot } = catalog
    const modelCount = await replaceServedModels(trx, inserted, {
      snapshot,
      served: gateway.models,
    })
    return { ...inserted, model_count: modelCount }
  })
  ports.changed(ownerId)
  return toAnswer({ ...row, role: role ?? null })
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
  filters: ConnectionFilters
  page: Page
}

async function listConnections(db: Kysely<Schema>, userId: string, { filters, page }: Listing) {
  let filtered = visibleConnections(db, userId)
  for (const name of ['provider', 'gateway_type', 'status', 'scope', 'organization_id'] as const) {
    const value = filters[name]
    if (value !== undefined) filtered = filtered.where(`connection.${name}`, '=', value)
  }
  const { items: connections, pagination } = await queryPage(db, filtered, { page })
  return { connections: connections.map(toAnswer), pagination }
}

import type { Kysely, Selectable, Transaction } from 'kysely'
import { recordGateway } from './audit-fields'
import type { GatewayFilters, NewGateway } from './schema'
import { hashOf, newGatewayToken } from '../../../auth/api-key'
import { isVisibleTo, permitChange, roleOver } from '../../../auth/owned-rows'
import { permit, type Principal } from '../../../auth/principal'
import { managers, requireRole, findRole } from '../../../auth/roles'
import { requireRow, lockOwner } from '../../../platform/db/account-row'
import { gatewayStatus } from '../../../platform/db/gateway-row'
import type { GatewayRow } from '../../../platform/db/gateway-schema'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'

/** Source: contract 3.3. */
const maxOfAccount = 20
const maxOfOrganization = 100

interface GatewayPorts {
  db: Kysely<Schema>
  /** The public address of the service, without a final slash. */
  address: () => string
  /** Called when an account or an organization was changed. */
  changed: (ownerId: string) => void
}

type Row = Selectable<GatewayRow>

const toGateway = (row: Row) => ({
  id: row.id,
  name: row.name,
  gateway_type: 3 as const,
  status: row.status,
  scope: row.organization_id === null ? ('individual' as const) : ('organization' as const),
  organization_id: row.organization_id,
  is_public: row.is_public,
  tool_count: row.tools.length,
  tools: row.tools.map(({ name, description }) => ({ name, description })),
  providers: row.providers,
  version: row.version,
  last_heartbeat_at: row.last_heartbeat_at && toTimestamp(row.last_heartbeat_at),
  created_at: toTimestamp(row.created_at),
})

/** Returns the address of a gateway's WebSocket, from the address of the service. */
const connectUrl = (address: string) => `${address.replace(/^http/, 'ws')}/gateway`

export type GatewayStore = ReturnType<typeof createGatewayStore>

/**
 * Self-hosted gateways of accounts and of organizations. All reject with `resource_not_found` for gateways that
 * the caller may not see, and with `insufficient_permissions` for those that it may see and not change.
 */
export function createGatewayStore({ db, address, changed }: GatewayPorts) {
  return {
    async list({ userId }: Principal, filters: GatewayFilters, page: Page) {
      const { items, pagination } = await queryPage(db, filtered(db, userId, filters), { page })
      return { gateways: items.map(toGateway), pagination }
    },
    async create(caller: Principal, fields: NewGateway) {
      const { organization_id: organizationId } = fields
      if (organizationId !== undefined) {
        permit(caller, 'admin')
        requireRole(await findRole(db, caller.userId, organizationId), managers)
      }
      const token = newGatewayToken()
      const row = await insert(db, caller.userId, { fields, token })
      return { ...toGateway(row), token, connect_url: connectUrl(address()) }
    },
    async delete(caller: Principal, id: string) {
      const row = await requireRow('gw', id, () =>
        visibleGateways(db, caller.userId).where('gateway.id', '=', id).executeTakeFirst(),
      )
      permitChange(caller, row.role)
      await remove(db, row)
      changed(row.user_id ?? row.organization_id ?? '')
      return { success: true as const, message: 'The gateway was deleted.' }
    },
  }
}

/** Selects the gateways that an account may see, with its role where one is an organization's. */
const visibleGateways = (db: Kysely<Schema>, userId: string) =>
  db
    .selectFrom('gateway')
    .selectAll('gateway')
    .select([gatewayStatus.as('status'), roleOver('gateway', userId).as('role')])
    .where(isVisibleTo('gateway', userId))

function filtered(db: Kysely<Schema>, userId: string, { status, scope }: GatewayFilters) {
  const isOrganizations = scope === 'organization'
  return visibleGateways(db, userId)
    .$if(status !== undefined, (all) => all.where(gatewayStatus, '=', status ?? 'online'))
    .$if(scope !== undefined, (all) =>
      all.where('gateway.organization_id', isOrganizations ? 'is not' : 'is', null),
    )
}

const insert = (
  db: Kysely<Schema>,
  userId: string,
  { fields, token }: { fields: NewGateway; token: string },
) =>
  db.transaction().execute(async (trx) => {
    const { organization_id: organizationId } = fields
    const owner =
      organizationId === undefined
        ? { user_id: userId, organization_id: null }
        : { user_id: null, organization_id: organizationId }
    // One at a time, so that the count is exact.
    await lockOwner(trx, owner)
    await checkCount(trx, owner)
    const inserted = await trx
      .insertInto('gateway')
      .values({
        id: newId('gw'),
        ...owner,
        name: fields.name,
        is_public: fields.is_public,
        token_hash: Buffer.from(hashOf(token), 'hex'),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordGateway(trx, 'gateway.created', inserted)
    return inserted
  })

type Owner = Pick<Row, 'user_id' | 'organization_id'>

async function checkCount(
  trx: Transaction<Schema>,
  { user_id, organization_id }: Owner,
): Promise<void> {
  const { total } = await trx
    .selectFrom('gateway')
    .where((is) =>
      is.or([is('user_id', '=', user_id), is('organization_id', '=', organization_id)]),
    )
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  const max = organization_id === null ? maxOfAccount : maxOfOrganization
  if (total < max) return
  const ownerName = organization_id === null ? 'An account' : 'An organization'
  throw invalidRequest(null, 'limit_reached', `${ownerName} has at most ${max} gateways.`)
}

/** Deletes a gateway. Its connections stay, for their settings and their logs. */
const remove = (db: Kysely<Schema>, row: Row) =>
  db.transaction().execute(async (trx) => {
    const { id } = row
    // Locks in the same order as a gateway's own hello does.
    await trx.selectFrom('gateway').select('id').where('id', '=', id).forUpdate().execute()
    await trx
      .updateTable('connection')
      .set({ status: 'inactive', updated_at: new Date() })
      .where('gateway_id', '=', id)
      .execute()
    const deleted = await trx.deleteFrom('gateway').where('id', '=', id).executeTakeFirst()
    if (deleted.numDeletedRows > 0n) await recordGateway(trx, 'gateway.deleted', row)
  })

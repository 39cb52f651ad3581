import type { Kysely, Selectable } from 'kysely'
import type { OrganizationTrailFilter } from './trail-schema'
import type { Principal } from '../../../auth/principal'
import { managers, requireRole, findRole } from '../../../auth/roles'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { OrganizationTrailRow } from '../../../platform/db/trail-schema'
import { ApiError } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import { actionsOf } from '../../../audit-log/organization-trail'

const toChange = (row: Selectable<OrganizationTrailRow>) => ({
  id: row.id,
  actor: row.actor,
  actor_email: row.actor_email,
  key_id: row.key_id,
  action: row.action,
  object_id: row.object_id,
  object_name: row.object_name,
  before: row.before,
  after: row.after,
  request_id: row.request_id,
  client_address: row.client_address,
  created_at: toTimestamp(row.created_at),
})

interface Listing {
  filter: OrganizationTrailFilter
  page: Page
}

export type OrganizationTrailStore = ReturnType<typeof createOrganizationTrailStore>

/** The audit log of organizations, newest first, for their managers. */
export const createOrganizationTrailStore = (db: Kysely<Schema>) => ({
  /** Rejects with `resource_not_found` for non-members, `insufficient_permissions` for lower roles. */
  async list({ userId }: Principal, id: string, { filter, page }: Listing) {
    const role = isId('org', id) ? await findRole(db, userId, id) : undefined
    if (role === undefined) throw new ApiError('resource_not_found')
    requireRole(role, managers)
    const { items, pagination } = await queryPage(db, narrowTrail(db, id, filter), { page })
    return { changes: items.map(toChange), pagination }
  },
})

function narrowTrail(db: Kysely<Schema>, id: string, filter: OrganizationTrailFilter) {
  const { actor, action, object_id: object, from, to } = filter
  let query = db.selectFrom('organization_trail').selectAll().where('organization_id', '=', id)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (action !== undefined) query = query.where('action', 'in', actionsOf(action))
  if (object !== undefined) query = query.where('object_id', '=', object)
  if (from) query = query.where('created_at', '>=', from)
  if (to) query = query.where('created_at', '<', to)
  return query
}

import type { Kysely } from 'kysely'
import type { OrganizationTrailFilter } from './trail-schema'
import type { Principal } from '../../../auth/principal'
import { requireManager } from '../../../auth/roles'
import type { Schema } from '../../../platform/db/schema'
import { readByKey } from '../../../http/keyed-lines'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import { toExportedOrganizationEntry, toOrganizationEntry } from '../../../audit-log/entries'
import { actionsOf } from '../../../audit-log/organization-trail'

interface Listing {
  filter: OrganizationTrailFilter
  page: Page
}

export type OrganizationTrailStore = ReturnType<typeof createOrganizationTrailStore>

/** The audit log of organizations, newest first, for their managers. */
export const createOrganizationTrailStore = (db: Kysely<Schema>) => ({
  /** Rejects with `resource_not_found` for non-members, `insufficient_permissions` for lower roles. */
  async list({ userId }: Principal, id: string, { filter, page }: Listing) {
    await requireManager(db, userId, id)
    const { items, pagination } = await queryPage(db, narrowTrail(db, id, filter), { page })
    return { changes: items.map(toOrganizationEntry), pagination }
  },
  /** Returns the entries as lines of JSON, oldest first. Rejects as `list` does. */
  async lines({ userId }: Principal, id: string, filter: OrganizationTrailFilter) {
    await requireManager(db, userId, id)
    return readByKey((after, limit) =>
      narrowTrail(db, id, filter)
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute()
        .then((rows) => rows.map(toExportedOrganizationEntry)),
    )
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

import type { Kysely } from 'kysely'
import type { ModelCollectionRow } from '../../../platform/db/name-schema'
import type { Schema } from '../../../platform/db/schema'
import { ApiError } from '../../../errors'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'
import type { Role } from '../../../auth/roles'

/** Reads an account's roles by organization, where it is an active member. */
export async function findRoles(db: Kysely<Schema>, userId: string): Promise<Map<string, Role>> {
  const rows = await db
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .select(['organization_id', 'role'])
    .where('user_id', '=', userId)
    .where('membership.status', '=', 'active')
    .where('organization.status', '=', 'active')
    .execute()
  return new Map(rows.map((row) => [row.organization_id, row.role]))
}

/** Throws unless the role may change collections: not found without a role, forbidden for a lower one. */
export function checkRole(role: Role | undefined): void {
  if (role === undefined) throw new ApiError('resource_not_found')
  if (role === 'owner' || role === 'admin') return
  throw new ApiError('insufficient_permissions', {
    message: 'Only owners and admins of the organization can change its collections.',
    details: { required: ['owner', 'admin'], current: [role] },
  })
}

/** Selects an account's own collections, those of its organizations and those of the system; newest first. */
export async function selectVisibleCollections(
  db: Kysely<Schema>,
  userId: string,
  scope: ModelCollectionRow['scope'] | undefined,
) {
  const organizations = [...(await findRoles(db, userId)).keys()]
  return db
    .selectFrom('model_collection')
    .selectAll()
    .where((is) =>
      is.or([
        is('scope', '=', 'system'),
        is('user_id', '=', userId),
        ...(organizations.length > 0 ? [is('organization_id', 'in', organizations)] : []),
      ]),
    )
    .$if(scope !== undefined, (query) => query.where('scope', '=', scope ?? 'system'))
    .orderBy('id', 'desc')
    .execute()
}

/** Selects a page of system collections. */
export function findSystemCollections(db: Kysely<Schema>, page: Page, search: string | undefined) {
  const filtered = db
    .selectFrom('model_collection')
    .where('scope', '=', 'system')
    .$if(search !== undefined, (query) =>
      query.where((is) =>
        is.or([
          is('name', 'ilike', containing(search ?? '')),
          is('display_name', 'ilike', containing(search ?? '')),
        ]),
      ),
    )
  return queryPage(db, filtered.selectAll(), { page })
}

import type { Kysely } from 'kysely'
import { isId } from '../platform/db/id'
import type { MembershipRow, Schema } from '../platform/db/schema'
import { ApiError } from '../errors'

export const roles = ['owner', 'admin', 'developer', 'viewer', 'member'] as const
export type Role = MembershipRow['role']

/** Roles that may change what an organization owns. Source: contract 2.4. */
export const managers: readonly Role[] = ['owner', 'admin']

/** Returns the role of an active member, undefined for all other accounts. */
export async function findRole(
  db: Kysely<Schema>,
  userId: string,
  organizationId: string,
): Promise<Role | undefined> {
  const row = await db
    .selectFrom('membership')
    .select('role')
    .where('user_id', '=', userId)
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return row?.role
}

/** Throws `resource_not_found` without an active membership, `insufficient_permissions` for another role. */
export function requireRole(role: Role | undefined, allowedRoles: readonly Role[]): void {
  if (role === undefined) throw new ApiError('resource_not_found')
  if (allowedRoles.includes(role)) return
  throw new ApiError('insufficient_permissions', {
    message: `This request requires the role ${allowedRoles.map((name) => `"${name}"`).join(' or ')} in the organization.`,
    details: { required: [...allowedRoles], current: [role] },
  })
}

/** Rejects with `resource_not_found` for non-members, `insufficient_permissions` for members who are no managers. */
export async function requireManager(
  db: Kysely<Schema>,
  userId: string,
  organizationId: string,
): Promise<void> {
  const isOrganization = isId('org', organizationId)
  requireRole(isOrganization ? await findRole(db, userId, organizationId) : undefined, managers)
}

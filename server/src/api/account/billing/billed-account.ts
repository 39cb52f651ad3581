import type { Kysely } from 'kysely'
import type { Principal } from '../../../auth/principal'
import { managers, requireRole, findRole } from '../../../auth/roles'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError } from '../../../errors'

/** The account that is shown or paid into: the caller's own, or an organization's. */
export interface BilledAccount {
  id: string
  organizationId: string | null
}

/**
 * Finds the caller's account, or that of an organization that the caller manages. Rejects with
 * `resource_not_found` for non-members and inactive ones, and with `insufficient_permissions` for other roles.
 */
export async function findBilledAccount(
  db: Kysely<Schema>,
  { userId }: Principal,
  organizationId: string | undefined,
): Promise<BilledAccount> {
  if (organizationId === undefined) return { id: userId, organizationId: null }
  if (!isId('org', organizationId)) throw new ApiError('resource_not_found')
  requireRole(await findRole(db, userId, organizationId), managers)
  return { id: organizationId, organizationId }
}

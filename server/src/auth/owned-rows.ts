import { sql, type RawBuilder } from 'kysely'
import { permit, type Principal } from './principal'
import { managers, requireRole, type Role } from './roles'

/** Tables whose rows belong to an account or to an organization. */
export type OwnedTable = 'connection' | 'connection_pool' | 'gateway'

/** Matches rows of the account, and of organizations where it is an active member. */
export const isVisibleTo = (table: OwnedTable, userId: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${table}.user_id`)} = ${userId}
    or ${sql.ref(`${table}.organization_id`)} in (
      select organization_id from membership where user_id = ${userId} and status = 'active'
    ))`

/** Selects the account's role in the organization that owns a row; null for a row of its own. */
export const roleOver = (table: OwnedTable, userId: string): RawBuilder<Role | null> =>
  sql<Role | null>`(
    select membership.role from membership
    where membership.organization_id = ${sql.ref(`${table}.organization_id`)}
      and membership.user_id = ${userId} and membership.status = 'active'
  )`

/**
 * Throws `insufficient_permissions` for a caller that may see a row and not change it: rows of an organization are
 * changed with `admin`, by its managers. `role` is null for the caller's own row.
 */
export function permitChange(caller: Principal, role: Role | null): void {
  if (role === null) return
  permit(caller, 'admin')
  requireRole(role, managers)
}

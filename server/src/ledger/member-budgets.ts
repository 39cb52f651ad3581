import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'

/**
 * The nano-dollars that count toward the spending limit of a row of `membership` in the current calendar month in UTC.
 * Source: contract 11.5.
 */
export const memberSpent = sql<bigint>`(
  select coalesce(sum(spent), 0)::bigint from organization_sum
  where organization_sum.organization_id = membership.organization_id
    and organization_sum.user_id = membership.user_id
    and day >= date_trunc('month', now() at time zone 'UTC')::date
)`

/** The monthly spending limit that applies to a row of `membership`: its own, else the organization's default. */
export const memberLimit = sql<bigint | null>`coalesce(
  membership.spending_limit,
  (select default_member_spending_limit from organization
    where organization.id = membership.organization_id)
)`

/** The spending of an organization for one member in the current month, and its limit. Amounts are nano-dollars. */
export interface MemberBudget {
  userId: string
  organizationId: string
  name: string
  /** Whether its pool pays for the account's requests on platform connections. */
  isFunding: boolean
  /** Null for no limit. */
  limit: bigint | null
  spent: bigint
}

/**
 * Reads the budgets of accounts in the organizations whose models they may call, the primary one first. Source:
 * contract 2.4, 11.5.
 */
export async function readMemberBudgets(
  db: Kysely<Schema>,
  userIds: readonly string[],
): Promise<MemberBudget[]> {
  if (userIds.length === 0) return []
  const { rows } = await sql<MemberBudget>`
    select membership.user_id as "userId", membership.organization_id as "organizationId",
      active.name, users.funding_organization_id is not distinct from active.id as "isFunding",
      ${memberLimit} as "limit", ${memberSpent} as spent
    from membership
    join organization as active
      on active.id = membership.organization_id and active.status = 'active'
    join users on users.id = membership.user_id
    where membership.user_id = any(${userIds}::text[])
      and membership.status = 'active' and membership.role <> 'viewer'
    order by membership.user_id, membership.is_primary desc, membership.created_at,
      membership.organization_id`.execute(db)
  return rows
}

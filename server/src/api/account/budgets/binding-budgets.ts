import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../platform/db/schema'

/**
 * Selects the budgets of organizations that bind an account as an active member that calls models: its own, and those that
 * reject requests of all members or of its department. Newest first.
 */
export const selectBindingBudgets = (db: Kysely<Schema>, userId: string) =>
  db
    .selectFrom('organization_budget')
    .innerJoin('membership', 'membership.organization_id', 'organization_budget.organization_id')
    .selectAll('organization_budget')
    .where('membership.user_id', '=', userId)
    .where('membership.status', '=', 'active')
    .where('membership.role', '<>', 'viewer')
    .where(
      sql<boolean>`case
        when member_id is not null then member_id = membership.user_id
        when organization_budget.department is not null
          then organization_budget.department = membership.department and enforcement = 'hard'
        else enforcement = 'hard'
      end`,
    )
    .orderBy('organization_budget.id', 'desc')

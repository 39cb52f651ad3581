import { sql, type Kysely } from 'kysely'
import type { Schema } from './schema'

/**
 * Accounts joined with what their settings need from other tables: plan, handle, primary organization, payer's flag.
 */
export const usersWithSettings = (db: Kysely<Schema>) =>
  db
    .selectFrom('users')
    .innerJoin('plan', 'plan.id', 'users.plan_id')
    .selectAll('users')
    .select('plan.name as plan_name')
    .select(
      sql<string | null>`(select name from public_name where user_id = users.id)`.as('handle'),
    )
    .select(
      sql<string | null>`(
        select organization_id from membership where user_id = users.id and is_primary
      )`.as('primary_organization_id'),
    )
    .select(
      sql<boolean | null>`(
        select payment_method_required from credit_account where id = users.id
      )`.as('payment_method_required'),
    )

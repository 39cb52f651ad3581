import { sql, type Kysely } from 'kysely'

/**
 * Roles of operators beside that of full ones, who keep `is_operator` alone: nodes of the version before take an account
 * with a role for one of a customer.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table users add column operator_role text
      check (operator_role in ('support', 'finance', 'read_only'))`.execute(db)
}

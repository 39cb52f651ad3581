import { sql, type Kysely } from 'kysely'

/** Amounts that replace those of budgets for a time: nano-dollars, requests or tokens, as the amount. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['budget', 'organization_budget'])
    await sql`
      alter table ${sql.table(table)}
        add column override_amount bigint check (override_amount >= 0),
        add column override_from timestamptz,
        add column override_until timestamptz,
        add column override_by text,
        add constraint ${sql.id(`${table}_override_check`)} check (
          num_nulls(override_amount, override_from, override_until, override_by) in (0, 4)
          and override_from < override_until
        )`.execute(db)
}

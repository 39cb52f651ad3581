import { sql, type Kysely } from 'kysely'

/** Lets a role book that owns the database and is no superuser, and rejects changes of what is append-only in any session. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await grantLocks(db)
  await guardAlways(db)
}

/**
 * A foreign key locks the rows at both of its ends (`select … for key share`) as the owner of their table. PostgreSQL
 * asks for UPDATE on a column of it, which 0002 revoked, and excepts superusers. The triggers reject every update.
 */
async function grantLocks(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string; owner: string }>`
    select relname as name, pg_get_userbyid(relowner) as owner from pg_class
    where oid in ('ledger_transaction'::regclass, 'ledger_entry'::regclass)`.execute(db)
  for (const { name, owner } of rows) {
    await sql`grant update (id) on ${sql.table(name)} to ${sql.id(owner)}`.execute(db)
  }
}

/** Else a superuser's `session_replication_role = replica`, as some tools set it, would skip the triggers. */
async function guardAlways(db: Kysely<unknown>): Promise<void> {
  for (const [table, trigger] of [
    ['ledger_transaction', 'append_only'],
    ['ledger_entry', 'append_only'],
    ['audit_trail', 'append_only'],
    ['organization_trail', 'append_only'],
    ['organization_trail', 'whole'],
  ] as const) {
    await sql`
      alter table ${sql.table(table)} enable always trigger ${sql.id(trigger)}`.execute(db)
  }
}

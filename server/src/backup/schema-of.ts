import { sql, type Kysely } from 'kysely'
import type { Contents, Table } from './contents'
import type { Schema } from '../db/schema'

/** Its row is for those who migrate, and says nothing. */
const passedOver = ['kysely_migration_lock']

/** Tables that hold rows of their own: a partition's rows are those of its table. */
export async function tablesOf(db: Kysely<Schema>): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select relname as name, array_agg(attname::text order by attnum) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not relispartition and attnum > 0 and not attisdropped and attgenerated = ''
      and relname <> all(${passedOver}::text[])
    group by relname order by relname`.execute(db)
  return rows
}

export async function partitionsOf(db: Kysely<Schema>): Promise<Contents['partitions']> {
  const { rows } = await sql<Contents['partitions'][number]>`
    select parent.relname as table, child.relname as name,
      pg_get_expr(child.relpartbound, child.oid) as bound
    from pg_inherits
      join pg_class parent on parent.oid = inhparent
      join pg_class child on child.oid = inhrelid
    where parent.relnamespace = current_schema()::regnamespace and parent.relkind = 'p'
      and child.relkind = 'r'
    order by 1, 2`.execute(db)
  return rows
}

export async function sequencesOf(db: Kysely<Schema>): Promise<Contents['sequences']> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'S'
    order by 1`.execute(db)
  const sequences: Contents['sequences'] = []
  for (const { name } of rows) {
    const { rows: states } = await sql<{ last: string; isCalled: boolean }>`
      select last_value::text as last, is_called as "isCalled" from ${sql.table(name)}`.execute(db)
    const [state] = states
    if (state) sequences.push({ name, last_value: state.last, is_called: state.isCalled })
  }
  return sequences
}

/** Migrations that were made, in their order; none where there is no schema. */
export async function migrationsOf(db: Kysely<Schema>): Promise<string[]> {
  const { rows: found } = await sql<{ isThere: boolean }>`
    select to_regclass('kysely_migration') is not null as "isThere"`.execute(db)
  if (!found[0]?.isThere) return []
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

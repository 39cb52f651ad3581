import { sql, type Kysely } from 'kysely'
import type { Contents, Table } from './contents'
import type { Schema } from '../../platform/db/schema'

/** The row of this table belongs to the migrator and carries no data. */
const ignoredTables = ['kysely_migration_lock']

/** Objects of an extension are created and dropped with it. */
const isOfNoExtension = (catalog: 'pg_class' | 'pg_proc') => sql`not exists (
  select from pg_depend where classid = ${sql.lit(catalog)}::regclass
    and objid = ${sql.ref(`${catalog}.oid`)} and deptype = 'e')`

/** Finds the tables that hold rows of their own: a partition's rows are those of its table. Unlogged tables hold state of running nodes. */
export async function findTables(db: Kysely<Schema>): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select relname as name, array_agg(attname::text order by attnum) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not relispartition and relpersistence = 'p'
      and attnum > 0 and not attisdropped and attgenerated = ''
      and relname <> all(${ignoredTables}::text[]) and ${isOfNoExtension('pg_class')}
    group by relname order by relname`.execute(db)
  return rows
}

export async function findPartitions(db: Kysely<Schema>): Promise<Contents['partitions']> {
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

export async function findSequences(db: Kysely<Schema>): Promise<Contents['sequences']> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'S'
      and ${isOfNoExtension('pg_class')}
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

/** An object of the schema that can be dropped by itself. */
export interface Droppable {
  /** As an SQL identifier; for a function, with its arguments. */
  name: string
  kind: 'view' | 'materialized view' | 'table' | 'foreign table' | 'sequence' | 'routine' | 'type'
}

/** Finds every object of the schema except those that belong to another object there, an extension or a table. */
export async function findDroppable(db: Kysely<Schema>): Promise<Droppable[]> {
  const { rows } = await sql<Droppable>`
    select format('%I', relname) as name, case relkind when 'v' then 'view'
      when 'm' then 'materialized view' when 'f' then 'foreign table'
      when 'S' then 'sequence' when 'c' then 'type' else 'table' end as kind
    from pg_class
    where relnamespace = current_schema()::regnamespace
      and relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c') and not relispartition
      and not exists (
        select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid
          and relkind = 'S' and deptype in ('a', 'i'))
      and ${isOfNoExtension('pg_class')}
    union all
    select pg_proc.oid::regprocedure::text, 'routine' from pg_proc
    where pronamespace = current_schema()::regnamespace and ${isOfNoExtension('pg_proc')}
    order by 1`.execute(db)
  return rows
}

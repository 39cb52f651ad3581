import { sql, type Kysely } from 'kysely'
import { failure, fine, type DoctorFinding } from './finding'
import type { Schema } from '../../platform/db/schema'

const name = 'permissions'

interface RoleRow {
  role: string
  schema: string | null
  searchPath: string
  mayCreate: boolean | null
}

/** Checks that the role of the database may create tables, and alter those that are there: migrations and partitions do. */
export async function lookAtPermissions(query: Kysely<Schema>): Promise<DoctorFinding> {
  const { rows } = await sql<RoleRow>`
    select current_user as role, current_schema() as schema, current_setting('search_path') as "searchPath",
      has_schema_privilege(current_schema(), 'CREATE') as "mayCreate"`.execute(query)
  const [{ role, schema, searchPath, mayCreate } = noRole] = rows
  if (schema === null) {
    const what = `${role} may use no schema of its search_path (${searchPath})`
    const fix = `As an administrator: create schema public, grant usage, create on schema public to ${quote(role)}`
    return failure(name, what, fix)
  }
  if (mayCreate !== true) {
    const what = `${role} may not create tables in the schema ${schema}`
    const fix = `As an administrator: grant usage, create on schema ${quote(schema)} to ${quote(role)}`
    return failure(name, what, fix)
  }
  const foreignTables = await findForeignTables(query)
  const [first] = foreignTables
  if (!first) return fine(name, `${role} may create and alter tables in the schema ${schema}`)
  const isOne = foreignTables.length === 1
  const tables = isOne ? `the table ${first.table}` : `${foreignTables.length} tables`
  const example = isOne ? '' : `, such as ${first.table}`
  const what = `${role} may not alter ${tables} of the schema ${schema}${example}, which belongs to ${first.owner}`
  const fix = `As an administrator: alter table ${quote(first.table)} owner to ${quote(role)}`
  return failure(name, what, isOne ? fix : `${fix}, and so on for the others`)
}

const noRole: RoleRow = { role: 'the role', schema: null, searchPath: '', mayCreate: null }

const quote = (identifier: string) => `"${identifier.replaceAll('"', '""')}"`

interface ForeignTable {
  table: string
  owner: string
}

/** Returns the tables of the schema that the role neither owns nor may act as the owner of, without those of extensions. */
async function findForeignTables(query: Kysely<Schema>): Promise<ForeignTable[]> {
  const { rows } = await sql<ForeignTable>`
    select relname as table, pg_get_userbyid(relowner) as owner from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not pg_has_role(relowner, 'USAGE')
      and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )
    order by relname`.execute(query)
  return rows
}

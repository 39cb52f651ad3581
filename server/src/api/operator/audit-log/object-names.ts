import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../platform/db/schema'

/** Names of objects by their ids. */
export type ObjectNames = Readonly<Record<string, string>>

interface NamedObject {
  id: string
  name: string
}

/**
 * Finds the current names of the objects that operators change, by their ids: accounts by their addresses, tickets by
 * their subjects. Deleted objects have none, and neither have connections and collections of accounts.
 */
export async function findObjectNames(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<ObjectNames> {
  if (ids.length === 0) return {}
  const { rows } = await sql<NamedObject>`
    with wanted as (select unnest(${[...new Set(ids)]}::text[]) as id)
    select id, email as name from users join wanted using (id)
    union all select id, name from organization join wanted using (id)
    union all select id, name from api_key join wanted using (id)
    union all select id, name from plan join wanted using (id)
    union all select id, name from provider join wanted using (id)
    union all select id, name from scim_directory join wanted using (id)
    union all select id, display_name from scim_group join wanted using (id)
    union all select id, subject from ticket join wanted using (id)
    union all select id, name from connection join wanted using (id) where scope = 'platform'
    union all select id, name from model_collection join wanted using (id) where scope = 'system'
  `.execute(db)
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]))
}

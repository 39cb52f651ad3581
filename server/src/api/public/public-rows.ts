import { sql, type Kysely, type Selectable } from 'kysely'
import type { OrganizationRow, Schema } from '../../db/schema'
import { containing } from '../../http/paging'

export type PublicRow = Selectable<OrganizationRow> & {
  slug: string
  members: bigint
  /** Of the connections that are in use and that Tollgate calls itself. */
  connections: bigint
  working: bigint
}

/** Those who show themselves; with connections of what status, if any. */
export function publicOrganizations(db: Kysely<Schema>, search?: string) {
  const ofUse = sql`
    from connection where connection.organization_id = organization.id
      and connection.gateway_type = 2`
  return db
    .selectFrom('organization')
    .innerJoin('public_name', 'public_name.organization_id', 'organization.id')
    .selectAll('organization')
    .select('public_name.name as slug')
    .select([
      sql<bigint>`(
        select count(*) from membership
        where membership.organization_id = organization.id and membership.status = 'active'
      )`.as('members'),
      sql<bigint>`(select count(*) ${ofUse} and connection.status <> 'inactive')`.as('connections'),
      sql<bigint>`(select count(*) ${ofUse} and connection.status = 'active')`.as('working'),
    ])
    .where('organization.is_public', '=', true)
    .where('organization.status', '=', 'active')
    .$if(search !== undefined, (query) =>
      query.where((is) =>
        is.or([
          is('organization.name', 'ilike', containing(search ?? '')),
          is('public_name.name', 'ilike', containing(search ?? '')),
        ]),
      ),
    )
}

/** The same, of those that have connections which are in use. */
export const servingOrganizations = (db: Kysely<Schema>, search?: string) =>
  publicOrganizations(db, search).where(
    sql<boolean>`exists (
      select from connection where connection.organization_id = organization.id
        and connection.gateway_type = 2 and connection.status <> 'inactive'
    )`,
  )

export const ofOrganization = 'organization.id'

import { sql, type Kysely, type Selectable } from 'kysely'
import type { OrganizationRow, Schema } from '../../platform/db/schema'
import { containing } from '../../http/paging'

export type PublicRow = Selectable<OrganizationRow> & {
  slug: string
  members: bigint
  /** The number of enabled public connections. */
  connections: bigint
  /** Ids of its public self-hosted gateways. */
  gateways: string[]
}

/** Matches connections that are enabled and not behind a private gateway. */
const publicConnections = sql`
  from connection where connection.organization_id = organization.id
    and connection.status <> 'inactive' and (
      connection.gateway_type = 2 or exists (
        select from gateway where gateway.id = connection.gateway_id and gateway.is_public
      )
    )`

/** Selects public organizations, with the number of their public connections. */
export function findPublicOrganizations(db: Kysely<Schema>, search?: string) {
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
      sql<bigint>`(select count(*) ${publicConnections})`.as('connections'),
      sql<string[]>`array(
        select gateway.id from gateway
        where gateway.organization_id = organization.id and gateway.is_public
      )`.as('gateways'),
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

/** Selects public organizations with at least one public connection. */
export const servingOrganizations = (db: Kysely<Schema>, search?: string) =>
  findPublicOrganizations(db, search).where(sql<boolean>`exists (select ${publicConnections})`)

export const ofOrganization = 'organization.id'

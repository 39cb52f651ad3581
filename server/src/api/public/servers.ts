import { sql, type Kysely } from 'kysely'
import { readPublicFigures } from './figures'
import type { PublicServed } from './served-models'
import { readUptimes } from './uptime'
import { gatewayStatus } from '../../platform/db/gateway-row'
import { CachedValue } from '../../platform/cached-value'
import type { Schema } from '../../platform/db/schema'
import { queryPage } from '../../http/paged-rows'
import { containing, type Page } from '../../http/paging'

const keepMs = 60_000
/** A page of many servers would be mostly names of models; the organization's own page lists all. */
const maxModels = 100

/**
 * Lists one inference server for each public organization with enabled connections that Tollgate calls directly,
 * and one for each of their public self-hosted gateways. Source: contract 9.1.
 */
export function createServerView(db: Kysely<Schema>, served: PublicServed) {
  const figures = new CachedValue({ read: () => readPublicFigures(db), keepMs })
  const online = new CachedValue({ read: () => readUptimes(db), keepMs })
  return {
    async list(page: Page, search: string | undefined) {
      const [{ items, pagination }, figuresById, uptimes] = await Promise.all([
        queryPage(db, serversIn(db, search), { page }),
        figures.get(),
        online.get(),
      ])
      const servers = items.map(async (row) => {
        const { gateway_id: gatewayId, organization_id: organizationId } = row
        const { latencyMs, successPercent } = figuresById.get(gatewayId ?? organizationId) ?? unused
        return {
          ...(await toServer(row, served)),
          avg_latency_ms: latencyMs,
          uptime_percentage: gatewayId === null ? successPercent : (uptimes.get(gatewayId) ?? null),
        }
      })
      return { inference_servers: await Promise.all(servers), pagination }
    },
  }
}

export type ServerView = ReturnType<typeof createServerView>

const unused = { latencyMs: null, successPercent: null }

interface ServerRow {
  id: string
  organization_id: string
  gateway_id: string | null
  name: string
  organization_name: string
  slug: string
  status: 'online' | 'starting' | 'offline' | 'error'
}

function serversIn(db: Kysely<Schema>, search: string | undefined) {
  const both = sql<ServerRow>`(
    select 'isrv_' || split_part(organization.id, '_', 2) as id, organization.id as organization_id,
      null as gateway_id, organization.name, organization.name as organization_name,
      public_name.name as slug,
      case when bool_or(connection.status = 'active') then 'online' else 'error' end as status
    from organization
    join public_name on public_name.organization_id = organization.id
    join connection on connection.organization_id = organization.id
      and connection.gateway_type = 2 and connection.status <> 'inactive'
    where organization.is_public and organization.status = 'active'
    group by organization.id, public_name.name
    union all
    select 'isrv_' || split_part(gateway.id, '_', 2), organization.id, gateway.id, gateway.name,
      organization.name, public_name.name, ${gatewayStatus}
    from gateway
    join organization on organization.id = gateway.organization_id
    join public_name on public_name.organization_id = organization.id
    where gateway.is_public and organization.is_public and organization.status = 'active'
  )`
  const pattern = containing(search ?? '')
  return db
    .selectFrom(both.as('server'))
    .selectAll()
    .$if(search !== undefined, (query) =>
      query.where((is) =>
        is.or([
          is('name', 'ilike', pattern),
          is('organization_name', 'ilike', pattern),
          is('slug', 'ilike', pattern),
        ]),
      ),
    )
}

async function toServer(row: ServerRow, served: PublicServed) {
  const { organization_id: organizationId, gateway_id: gatewayId } = row
  const models =
    gatewayId === null
      ? await served.ofCloud(organizationId)
      : await served.ofGateway(organizationId, gatewayId)
  return {
    id: row.id,
    name: row.name,
    organization: { name: row.organization_name, slug: row.slug },
    gateway_type: gatewayId === null ? (2 as const) : (3 as const),
    status: row.status,
    // Tollgate does not know the region of an organization's providers.
    region: null,
    models: models.slice(0, maxModels).map(({ model }) => model.id),
    model_count: models.length,
  }
}

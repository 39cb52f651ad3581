import { sql, type Kysely } from 'kysely'
import { idAfter } from './ids'
import { ofOrganization, servingOrganizations, type PublicRow } from './public-rows'
import type { Served } from './served'
import { Kept } from '../../db/kept'
import type { Schema } from '../../db/schema'
import { pagedRows } from '../../http/paged-rows'
import type { Page } from '../../http/paging'

const keepMs = 60_000
/** A page of many servers would be mostly names of models; the organization's own page has all. */
const mostModels = 100

/** Of the last 24 hours. */
interface Figures {
  avg_latency_ms: number | null
  uptime_percentage: number | null
}

const unused: Figures = { avg_latency_ms: null, uptime_percentage: null }

/**
 * One inference server for each public organization with connections that are in use. Source: api.md
 * 18.
 */
export function createServerView(db: Kysely<Schema>, served: Served) {
  const figures = new Kept({ read: () => figuresOf(db), keepMs })
  return {
    async list(page: Page, search: string | undefined) {
      const query = servingOrganizations(db, search)
      const [{ shown, pagination }, known] = await Promise.all([
        pagedRows(db, query, { page, column: ofOrganization }),
        figures.get(),
      ])
      const servers = shown.map(async (row) => ({
        ...(await toServer(row, served)),
        ...(known.get(row.id) ?? unused),
      }))
      return { inference_servers: await Promise.all(servers), pagination }
    },
  }
}

export type ServerView = ReturnType<typeof createServerView>

async function toServer(row: PublicRow, served: Served) {
  const models = await served.of(row.id)
  return {
    id: idAfter('isrv', row.id),
    name: row.name,
    organization: { name: row.name, slug: row.slug },
    gateway_type: 2 as const,
    status: row.working > 0n ? ('online' as const) : ('error' as const),
    // Where its providers run, nobody says.
    region: null,
    models: models.slice(0, mostModels).map(({ model }) => model.id),
    model_count: models.length,
  }
}

interface Row {
  organization_id: string
  good: bigint
  bad: bigint
  latency_ms: number | null
}

/** How the connections of public organizations fared; those that were not used are left out. */
async function figuresOf(db: Kysely<Schema>): Promise<Map<string, Figures>> {
  const { rows } = await sql<Row>`
    select connection.organization_id,
      count(*) filter (where log.status = 'success') as good,
      count(*) filter (where log.status = 'error' and log.status_code in (502, 503, 504)) as bad,
      (avg(log.latency_ms) filter (where log.status = 'success'))::float8 as latency_ms
    from request_log as log
    join connection on connection.id = log.connection_id
      and connection.organization_id = log.organization_id
    join organization on organization.id = connection.organization_id
    where log.started_at >= now() - interval '24 hours' and log.organization_id is not null
      and organization.is_public and organization.status = 'active'
    group by connection.organization_id`.execute(db)
  return new Map(rows.map((row) => [row.organization_id, toFigures(row)]))
}

function toFigures({ good, bad, latency_ms: latencyMs }: Row): Figures {
  const all = Number(good + bad)
  return {
    avg_latency_ms: latencyMs === null ? null : Math.round(latencyMs),
    uptime_percentage: all === 0 ? null : Math.round((Number(good) / all) * 10_000) / 100,
  }
}

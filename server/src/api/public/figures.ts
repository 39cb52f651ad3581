import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../platform/db/schema'

/** Request metrics of the last 24 hours; null without requests. */
export interface PublicFigures {
  /** The mean latency of successful requests. */
  latencyMs: number | null
  /** The percentage of requests that did not fail by the provider's fault, with two decimals. */
  successPercent: number | null
}

interface Row {
  served_by: string
  good: bigint
  bad: bigint
  latency_ms: number | null
}

/**
 * Reads the metrics of public organizations' connections by the organization's id, and those of their public
 * gateways by the gateway's; unused ones are left out.
 */
export async function readPublicFigures(db: Kysely<Schema>): Promise<Map<string, PublicFigures>> {
  const { rows } = await sql<Row>`
    select coalesce(gateway.id, organization.id) as served_by,
      count(*) filter (where log.status = 'success') as good,
      count(*) filter (where log.status = 'error' and log.status_code in (502, 503, 504)) as bad,
      (avg(log.latency_ms) filter (where log.status = 'success'))::float8 as latency_ms
    from request_log as log
    join connection on connection.id = log.connection_id
      and connection.organization_id = log.organization_id
    join organization on organization.id = connection.organization_id
    left join gateway on gateway.id = connection.gateway_id
    where log.started_at >= now() - interval '24 hours' and log.organization_id is not null
      and organization.is_public and organization.status = 'active'
      and (connection.gateway_type = 2 or gateway.is_public)
    group by 1`.execute(db)
  return new Map(rows.map((row) => [row.served_by, toFigures(row)]))
}

function toFigures({ good, bad, latency_ms: latencyMs }: Row): PublicFigures {
  const all = Number(good + bad)
  return {
    latencyMs: latencyMs === null ? null : Math.round(latencyMs),
    successPercent: all === 0 ? null : Math.round((Number(good) / all) * 10_000) / 100,
  }
}

import { sql, type Kysely } from 'kysely'
import { generateIdBody } from '../../platform/db/id'
import type { Schema } from '../../platform/db/schema'

/** Recent results of a connection's requests. */
export interface RequestResults {
  successes: number
  /** Requests whose provider failed, was unreachable, or timed out. */
  failures: number
}

export type HealthStatus = 'operational' | 'degraded' | 'down'

const windowMs = 5 * 60_000
/** Fewer requests are too few for a status. */
const minRequests = 3
const degradedFrom = 0.2

/** Reads the results of platform connections in the last five minutes, by id; unused connections are left out. */
export async function readRecentResults(
  db: Kysely<Schema>,
  connectionIds: readonly string[],
): Promise<Map<string, RequestResults>> {
  if (connectionIds.length === 0) return new Map()
  const start = new Date(Date.now() - windowMs)
  // Ids rise with time and are indexed; times are not.
  const firstId = `req_${generateIdBody(start.getTime())}`
  const { rows } = await sql<{ connection_id: string; good: bigint; bad: bigint }>`
    select connection_id,
      count(*) filter (where status = 'success') as good,
      count(*) filter (where status = 'error' and status_code in (502, 503, 504)) as bad
    from request_log
    where id >= ${firstId} and started_at >= ${start}
      and connection_id = any(${connectionIds}::text[])
    group by connection_id`.execute(db)
  return new Map(
    rows.map((row) => [
      row.connection_id,
      { successes: Number(row.good), failures: Number(row.bad) },
    ]),
  )
}

/**
 * Derives a provider's health status. Only the platform's own connections count: a customer's may fail because of
 * its key, or lead anywhere. Without evidence of failures, the status is operational.
 */
export function toHealthStatus(
  connections: readonly { id: string; isFailing: boolean }[],
  results: ReadonlyMap<string, RequestResults>,
): HealthStatus {
  if (connections.length === 0) return 'operational'
  const failing = connections.filter(({ isFailing }) => isFailing).length
  if (failing === connections.length) return 'down'
  const total = { successes: 0, failures: 0 }
  for (const { id } of connections) {
    total.successes += results.get(id)?.successes ?? 0
    total.failures += results.get(id)?.failures ?? 0
  }
  const count = total.successes + total.failures
  if (total.successes === 0 && count >= minRequests) return 'down'
  const isShaky = count >= minRequests && total.failures / count >= degradedFrom
  return failing > 0 || isShaky ? 'degraded' : 'operational'
}

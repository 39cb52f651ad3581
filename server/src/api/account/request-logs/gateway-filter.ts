import { sql, type RawBuilder } from 'kysely'
import type { RequestLogFilter } from './schema'
import { isVisibleTo } from '../../../auth/owned-rows'
import { everyAccount, type LogOwner } from '../../../request-logs/log-owner'

interface GatewayLogs {
  owner: LogOwner
  gatewayId: string
  /** The period of the logs to match. */
  period: Pick<RequestLogFilter, 'start_date' | 'end_date'>
}

/** Selects the connections of a gateway; none of one that the account may not see. */
export const selectConnections = (owner: LogOwner, gatewayId: string) => sql<{ id: string }>`
  select connection.id from connection join gateway on gateway.id = connection.gateway_id
  where gateway.id = ${gatewayId}
    and ${owner === everyAccount ? sql`true` : isVisibleTo('gateway', owner)}`

/**
 * Matches an account's logs of a self-hosted gateway: requests that one of its connections served, and failed
 * attempts on them of requests served elsewhere. A gateway that the account may not see matches none.
 */
export function matchGateway({ owner, gatewayId, period }: GatewayLogs): RawBuilder<boolean> {
  const { start_date: start, end_date: end } = period
  const isOwn = owner === everyAccount ? sql`true` : sql`user_id = ${owner}`
  const byGateway = sql`${isOwn} and connection_id in (${selectConnections(owner, gatewayId)})`
  // Both parts read an account's rows by its index, once: reading the attempts of each log would take far longer.
  return sql<boolean>`id in (
    select id from request_log where ${byGateway}
      ${start ? sql`and started_at >= ${start}` : sql``}
      ${end ? sql`and started_at < ${end}` : sql``}
    union all
    -- Attempts begin within their request: partitions of other days need not be looked into.
    select request_id from usage_event where ${byGateway}
      ${start ? sql`and started_at >= ${start}::timestamptz - interval '1 minute'` : sql``}
      ${end ? sql`and started_at < ${end}::timestamptz + interval '1 day'` : sql``}
  )`
}

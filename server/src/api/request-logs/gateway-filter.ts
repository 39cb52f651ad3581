import { sql, type RawBuilder } from 'kysely'
import type { RequestLogFilter } from './schema'
import { isSeenBy } from '../../auth/owned-rows'

interface Asking {
  userId: string
  gatewayId: string
  /** Of the logs that are wanted. */
  period: Pick<RequestLogFilter, 'start_date' | 'end_date'>
}

/**
 * An account's logs of a self-hosted gateway: what one of its connections served, and what one was asked for
 * in vain, whoever served that then. Of a gateway that the account may not see there are none.
 */
export function matchGateway({ userId, gatewayId, period }: Asking): RawBuilder<boolean> {
  const { start_date: start, end_date: end } = period
  const byGateway = sql`user_id = ${userId} and connection_id in (
    select connection.id from connection join gateway on gateway.id = connection.gateway_id
    where gateway.id = ${gatewayId} and ${isSeenBy('gateway', userId)}
  )`
  // Both parts read an account's rows by its index, once: a look at the attempts of each log would take far longer.
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

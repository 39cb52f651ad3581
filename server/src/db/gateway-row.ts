import { sql } from 'kysely'
import type { GatewayRow } from './gateway-schema'

/** The node of its socket is gone, or it would have said more. Source: contract 10.5. */
export const believedSeconds = 60

/** The status of a gateway's row: what a node wrote that says nothing any more is no longer so. */
export const gatewayStatus = sql<GatewayRow['status']>`(case
  when gateway.socket is not null and gateway.status in ('starting', 'online')
    and gateway.last_heartbeat_at < now() - make_interval(secs => ${sql.lit(believedSeconds)})
  then 'offline' else gateway.status end)`

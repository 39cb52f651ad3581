import { sql } from 'kysely'
import type { GatewayRow } from './gateway-schema'

/** A row that was not renewed for this long belongs to a node that is gone. Source: contract 10.5. */
export const maxHeartbeatAgeSeconds = 60

/** Computes the status of a gateway from its row: the status that a dead node wrote no longer holds. */
export const gatewayStatus = sql<GatewayRow['status']>`(case
  when gateway.socket is not null and gateway.status in ('starting', 'online')
    and gateway.last_heartbeat_at < now() - make_interval(secs => ${sql.lit(maxHeartbeatAgeSeconds)})
  then 'offline' else gateway.status end)`

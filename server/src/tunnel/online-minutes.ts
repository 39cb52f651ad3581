import { sql, type Kysely } from 'kysely'
import { gatewayStatus } from '../platform/db/gateway-row'
import type { Schema } from '../platform/db/schema'

/**
 * Records that gateways are online in this minute, by the database's clock; gateways that are not are left out.
 * Minutes already recorded are not written again.
 */
export async function markOnline(db: Kysely<Schema>, ids: readonly string[]): Promise<void> {
  await sql`
    with minute as (
      select floor(extract(epoch from now()) / 3600)::integer as hour,
        1::bigint << (floor(extract(epoch from now()) / 60)::bigint % 60)::integer as bit
    )
    insert into gateway_hour (gateway_id, hour, minutes)
    select gateway.id, minute.hour, minute.bit from gateway, minute
    where gateway.id = any(${ids}::text[]) and ${gatewayStatus} = 'online'
      and not exists (
        select from gateway_hour as known
        where known.gateway_id = gateway.id and known.hour = minute.hour
          and known.minutes & minute.bit <> 0
      )
    order by gateway.id
    on conflict (gateway_id, hour) do update set minutes = gateway_hour.minutes | excluded.minutes
  `.execute(db)
}

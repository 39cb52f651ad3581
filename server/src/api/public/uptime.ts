import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../platform/db/schema'

/** A gateway's online minutes of the last hours; times in seconds since 1970. */
export interface GatewayUptime {
  /** The start of the recording. */
  since: number
  now: number
  /** Bitmaps of online minutes by hours since 1970, the first minute in the lowest bit. */
  hours: ReadonlyMap<number, bigint>
}

const dayMinutes = 24 * 60

/**
 * Computes the percentage of the last 24 hours in which a gateway was online, with two decimals, by the minute; a
 * younger gateway is measured over its lifetime. The current minute counts once the gateway was online in it.
 */
export function computeUptime({ since, now, hours }: GatewayUptime): number | null {
  const running = Math.floor(now / 60)
  const first = Math.max(Math.floor(since / 60), running - dayMinutes + 1)
  let onlineMinutes = 0
  let all = 0
  for (let minute = first; minute <= running; minute++) {
    const bits = hours.get(Math.floor(minute / 60)) ?? 0n
    const isOnline = ((bits >> BigInt(minute % 60)) & 1n) === 1n
    if (isOnline) onlineMinutes += 1
    if (isOnline || minute < running) all += 1
  }
  return all === 0 ? null : Math.round((onlineMinutes / all) * 10_000) / 100
}

interface Row {
  id: string
  since: number
  now: number
  hour: number | null
  minutes: bigint | null
}

/** Reads the uptime of public gateways by id; gateways that never announced capabilities are left out. */
export async function readUptimes(db: Kysely<Schema>): Promise<Map<string, number | null>> {
  const { rows } = await sql<Row>`
    select gateway.id, extract(epoch from gateway.watched_since)::float8 as since,
      extract(epoch from now())::float8 as now, known.hour, known.minutes
    from gateway
    join organization on organization.id = gateway.organization_id
    left join gateway_hour as known on known.gateway_id = gateway.id
      and known.hour >= floor(extract(epoch from now()) / 3600) - 24
    where gateway.is_public and gateway.welcomed_at is not null
      and organization.is_public and organization.status = 'active'`.execute(db)
  const byGateway = Map.groupBy(rows, ({ id }) => id)
  return new Map([...byGateway].map(([id, own]) => [id, computeUptime(toWatched(own))]))
}

function toWatched(rows: readonly Row[]): GatewayUptime {
  const hours = rows.flatMap(({ hour, minutes }) =>
    hour === null || minutes === null ? [] : [[hour, minutes] as const],
  )
  const { since = 0, now = 0 } = rows[0] ?? {}
  return { since, now, hours: new Map(hours) }
}

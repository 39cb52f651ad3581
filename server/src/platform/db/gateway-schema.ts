import type { ColumnType, Generated } from 'kysely'

/** A list in a JSON column, written as JSON text. */
type List<Item> = ColumnType<Item[], string | undefined, string>

/** A model that a gateway serves; `name` is its name on the gateway's server. */
export interface AnnouncedModel {
  provider: string
  name: string
}

/** A tool that a gateway runs; `parameters` is a JSON schema. */
export interface AnnouncedTool {
  name: string
  description: string
  parameters: Record<string, unknown>
}

/** A self-hosted gateway: a customer's program that calls models for Tollgate. */
export interface GatewayRow {
  id: string
  /** Exactly one of the two owners is set. */
  user_id: string | null
  organization_id: string | null
  name: string
  is_public: Generated<boolean>
  /** SHA-256 of its token. */
  token_hash: Buffer
  /** As last written by the node of its socket; `gatewayStatus` decides whether it still holds. */
  status: Generated<'starting' | 'online' | 'offline' | 'error'>
  version: string | null
  /** The keys of the providers whose secrets it holds. */
  providers: List<string>
  models: List<AnnouncedModel>
  tools: List<AnnouncedTool>
  /** When its first hello created connections. */
  welcomed_at: Date | null
  /** The process that holds its socket, and the id of that socket. */
  node: string | null
  socket: string | null
  /** The socket over which the gateway last announced that it serves images and sound. */
  media_socket: string | null
  last_heartbeat_at: Date | null
  /** The time since which `gateway_hour` covers it. */
  watched_since: Generated<Date>
  created_at: ColumnType<Date, Date | undefined, never>
}

/** The minutes of an hour in which a gateway was online. */
export interface GatewayHourRow {
  gateway_id: string
  /** Hours since 1970. */
  hour: number
  /** A bit for each minute, the first one in the lowest bit. */
  minutes: bigint
}

export interface GatewaySchema {
  gateway: GatewayRow
  gateway_hour: GatewayHourRow
}

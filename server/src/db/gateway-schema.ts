import type { ColumnType, Generated } from 'kysely'

/** A list in a JSON column, written as its text. */
type List<Item> = ColumnType<Item[], string | undefined, string>

/** A model that a gateway serves; `name` is what its server calls it. */
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

/** A self-hosted gateway: somebody's program that calls models for Tollgate. */
export interface GatewayRow {
  id: string
  /** One of the two owners is set. */
  user_id: string | null
  organization_id: string | null
  name: string
  is_public: Generated<boolean>
  /** SHA-256 of its token. */
  token_hash: Buffer
  /** As the node of its socket wrote it last; `gatewayStatus` says whether that is to be believed. */
  status: Generated<'starting' | 'online' | 'offline' | 'error'>
  version: string | null
  /** Keys of providers that it holds secrets for. */
  providers: List<string>
  models: List<AnnouncedModel>
  tools: List<AnnouncedTool>
  /** When its first hello made connections. */
  welcomed_at: Date | null
  /** The process that has its socket, and which socket that is. */
  node: string | null
  socket: string | null
  last_heartbeat_at: Date | null
  /** Since when `gateway_hour` tells of it. */
  watched_since: Generated<Date>
  created_at: ColumnType<Date, Date | undefined, never>
}

/** In which minutes of an hour a gateway was online. */
export interface GatewayHourRow {
  gateway_id: string
  /** Hours since 1970. */
  hour: number
  /** The first minute in the lowest bit. */
  minutes: bigint
}

export interface GatewaySchema {
  gateway: GatewayRow
  gateway_hour: GatewayHourRow
}

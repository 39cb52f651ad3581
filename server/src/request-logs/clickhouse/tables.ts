import type { ClickHouseStatement } from '../../platform/clickhouse/client'
import type { ExportedKind } from '../../platform/db/log-export-schema'
import type { logColumns } from '../log-record'

type LogColumn = (typeof logColumns)[number][0]

/** The types of the columns that a log has in PostgreSQL, too: one that is forgotten does not compile. */
const logTypes: Readonly<Record<LogColumn, string>> = {
  id: 'String',
  started_at: "DateTime64(3, 'UTC')",
  user_id: 'String',
  key_id: 'Nullable(String)',
  api_key_prefix: 'Nullable(String)',
  method: 'LowCardinality(String)',
  endpoint: 'LowCardinality(String)',
  streamed: 'Bool',
  requested_model: 'LowCardinality(String)',
  model: 'LowCardinality(String)',
  provider: 'LowCardinality(Nullable(String))',
  status: 'LowCardinality(String)',
  status_code: 'Int32',
  error: 'Nullable(String)',
  finish_reason: 'LowCardinality(Nullable(String))',
  latency_ms: 'Int32',
  first_token_ms: 'Nullable(Int32)',
  input_tokens: 'Int64',
  output_tokens: 'Int64',
  estimated: 'Bool',
  cost: 'Int64',
  platform_fee: 'Int64',
  billing_mode: 'LowCardinality(Nullable(String))',
  account_id: 'Nullable(String)',
  organization_id: 'Nullable(String)',
  connection_id: 'Nullable(String)',
  gateway_type: 'Nullable(Int16)',
  concurrent: 'Int32',
  caller_user: 'Nullable(String)',
  metadata: 'Nullable(String)',
  ip_address: 'String',
  user_agent: 'String',
  cached_tokens: 'Nullable(Int64)',
  cache_write_tokens: 'Nullable(Int64)',
  cache_savings: 'Nullable(Int64)',
  images: 'Nullable(Int32)',
  sound_ms: 'Nullable(Int64)',
  speech_characters: 'Nullable(Int32)',
  speech_ms: 'Nullable(Int64)',
  // Empty for none.
  tags: 'Array(String)',
  provider_cost: 'Nullable(Int64)',
}

/** A table of ClickHouse, and the kind of rows that it has. */
export interface ExportedTable {
  kind: ExportedKind
  name: 'request_log' | 'request_body'
  /** Types by the names of the columns. */
  columns: Readonly<Record<string, string>>
}

/** The tables of the export, in the order of their export. */
export const exportedTables: Readonly<Record<ExportedKind, ExportedTable>> = {
  log: {
    kind: 'log',
    name: 'request_log',
    columns: {
      ...logTypes,
      // Of its attempts, which are usage events in PostgreSQL.
      attempt_connections: 'Array(String)',
      attempts_ms: 'Nullable(Int64)',
      version: 'UInt64',
    },
  },
  body: {
    kind: 'body',
    name: 'request_body',
    columns: {
      id: 'String',
      started_at: "DateTime64(3, 'UTC')",
      user_id: 'String',
      request_body: 'Nullable(String) CODEC(ZSTD(3))',
      response_body: 'Nullable(String) CODEC(ZSTD(3))',
      version: 'UInt64',
    },
  },
}

/** The part of a table's definition that says after how many days its rows are deleted; a definition has no parameters. */
export const toExpiryText = (days: number): string => `toIntervalDay(${Math.round(days)})`

/** A day's rows expire together, so that the server deletes whole parts. */
const expiryAfter = (days: number) =>
  `toStartOfDay(toDateTime(started_at, 'UTC')) + ${toExpiryText(days)}`

/**
 * Creates a table. Pages read the newest logs of one account, which the sorting key has together; the version
 * decides between rows that were sent twice. `days`: the days after which rows are deleted.
 */
export const createTable = (
  { name, columns }: ExportedTable,
  days: number,
): ClickHouseStatement => ({
  text: `CREATE TABLE IF NOT EXISTS ${name} (
${Object.entries(columns)
  .map(([column, type]) => `  ${column} ${type}`)
  .join(',\n')}
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(started_at)
ORDER BY (user_id, id)
TTL ${expiryAfter(days)}
SETTINGS ttl_only_drop_parts = 1`,
})

export const addColumn = (
  { name, columns }: ExportedTable,
  column: string,
): ClickHouseStatement => ({
  text: `ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS ${column} ${columns[column]}`,
})

/** Changes the days after which rows are deleted. */
export const changeExpiry = ({ name }: ExportedTable, days: number): ClickHouseStatement => ({
  text: `ALTER TABLE ${name} MODIFY TTL ${expiryAfter(days)}`,
})

/** Deletes an account's rows from the disk, in the background. */
export const deleteAccount = ({ name }: ExportedTable, userId: string): ClickHouseStatement => ({
  text: `ALTER TABLE ${name} DELETE WHERE user_id = {user:String}`,
  parameters: { user: userId },
})

const period =
  "started_at >= {from:DateTime64(3, 'UTC')} AND started_at < {to:DateTime64(3, 'UTC')}"
const heldIds = '{heldIds:Array(String)}'
const holdConditions: Readonly<Record<ExportedKind, string>> = {
  log: `ifNull(organization_id, '') NOT IN ${heldIds} AND ifNull(account_id, '') NOT IN ${heldIds}`,
  body: `id NOT IN (SELECT id FROM request_log WHERE organization_id IN ${heldIds} OR account_id IN ${heldIds})`,
}

/** Old rows, apart from those of accounts and organizations on legal hold. */
interface Unheld {
  before: Date
  heldIds: readonly string[]
}

const conditionOf = ({ kind }: ExportedTable) =>
  `${period} AND user_id NOT IN ${heldIds} AND ${holdConditions[kind]}`

const parametersOf = ({ before, heldIds: ids }: Unheld) => ({
  from: new Date(0),
  to: before,
  heldIds: ids,
})

/** Counts old rows that no legal hold keeps. */
export const countUnheld = (table: ExportedTable, old: Unheld): ClickHouseStatement => ({
  text: `SELECT count() AS found FROM ${table.name} WHERE ${conditionOf(table)}`,
  parameters: parametersOf(old),
})

/** Deletes them from the disk, in the background. */
export const deleteUnheld = (table: ExportedTable, old: Unheld): ClickHouseStatement => ({
  text: `ALTER TABLE ${table.name} DELETE WHERE ${conditionOf(table)}`,
  parameters: parametersOf(old),
})

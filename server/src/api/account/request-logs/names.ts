import { sql, type Kysely } from 'kysely'
import type { LogNames } from './log-answer'
import { isVisibleTo } from '../../../auth/owned-rows'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { everyAccount, type LogOwner } from '../../../request-logs/log-owner'

const isPresent = (id: string | null): id is string => id !== null

/** The ids in a log of what has a name. */
interface NamedRow {
  key_id: string | null
  account_id: string | null
  organization_id?: string | null
}

/** Reads the names of the keys and the organizations of logs; deleted ones have none. */
export async function readLogNames(
  db: Kysely<Schema>,
  rows: readonly NamedRow[],
): Promise<LogNames> {
  const [keys, organizations] = await Promise.all([
    readNames(
      db,
      'api_key',
      rows.map(({ key_id: id }) => id),
    ),
    readOrganizationNames(
      db,
      rows.flatMap((row) => [row.account_id, row.organization_id ?? null]),
    ),
  ])
  return { keys, organizations }
}

/** Reads the names of the organizations among some accounts. */
export const readOrganizationNames = (db: Kysely<Schema>, accountIds: readonly (string | null)[]) =>
  readNames(
    db,
    'organization',
    accountIds.filter((id) => isId('org', id ?? '')),
  )

async function readNames(
  db: Kysely<Schema>,
  table: 'api_key' | 'organization',
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const present = [...new Set(ids.filter(isPresent))]
  if (present.length === 0) return new Map()
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from ${sql.table(table)} where id = any(${present}::text[])`.execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Reads the names of connections that an account may see, or an operator; deleted ones have none. */
export async function readConnectionNames(
  db: Kysely<Schema>,
  owner: LogOwner,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const present = [...new Set(ids.filter(isPresent))]
  if (present.length === 0) return new Map()
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from connection where id = any(${present}::text[])
      and ${owner === everyAccount ? sql`true` : isVisibleTo('connection', owner)}`.execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

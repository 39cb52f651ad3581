import { sql, type Kysely } from 'kysely'
import type { KeyNames } from './log-answer'
import { isVisibleTo } from '../../../auth/owned-rows'
import type { Schema } from '../../../platform/db/schema'
import { everyAccount, type LogOwner } from '../../../request-logs/log-owner'

const isPresent = (id: string | null): id is string => id !== null

/** Reads the names of the keys of logs; deleted keys have none. */
export async function readKeyNames(
  db: Kysely<Schema>,
  rows: readonly { key_id: string | null }[],
): Promise<KeyNames> {
  const ids = [...new Set(rows.map(({ key_id: id }) => id).filter(isPresent))]
  if (ids.length === 0) return new Map()
  const keys = await db
    .selectFrom('api_key')
    .select(['id', 'name'])
    .where('id', 'in', ids)
    .execute()
  return new Map(keys.map(({ id, name }) => [id, name]))
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

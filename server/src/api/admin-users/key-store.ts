import type { Kysely, Selectable } from 'kysely'
import type { ChangedKey, NewKey } from './schema'
import { hashOf, newApiKey, shownPart } from '../../auth/api-key'
import { isId, newId } from '../../db/id'
import type { ApiKeyRow, Schema } from '../../db/schema'
import { ApiError, invalidRequest } from '../../errors'
import { present, toTimestamp } from '../../http/fields'
import { toUsd } from '../../wire/usd'

const mostKeys = 50
const dayMs = 86_400_000

const toKey = (row: Selectable<ApiKeyRow>) => ({
  id: row.id,
  name: row.name,
  key_prefix: row.key_prefix,
  permissions: row.permissions,
  expires_at: row.expires_at && toTimestamp(row.expires_at),
  last_used_at: row.last_used_at && toTimestamp(row.last_used_at),
  rate_limit_requests_per_minute: row.requests_per_minute,
  rate_limit_tokens_per_minute: row.tokens_per_minute,
  max_concurrent_requests: row.max_concurrent_requests,
  monthly_spend_limit: row.monthly_spend_limit === null ? null : toUsd(row.monthly_spend_limit),
  created_at: toTimestamp(row.created_at),
})

type Limits = Pick<
  ChangedKey,
  | 'rate_limit_requests_per_minute'
  | 'rate_limit_tokens_per_minute'
  | 'max_concurrent_requests'
  | 'monthly_spend_limit'
>

const toLimitColumns = (fields: Limits) =>
  present({
    requests_per_minute: fields.rate_limit_requests_per_minute,
    tokens_per_minute: fields.rate_limit_tokens_per_minute,
    max_concurrent_requests: fields.max_concurrent_requests,
    monthly_spend_limit: fields.monthly_spend_limit,
  })

/** What has not the shape of an id is no id, and the database is not asked. */
function checkIds(userId: string, id: string): void {
  if (!isId('user', userId) || !isId('key', id)) throw new ApiError('resource_not_found')
}

/** The keys of one account. `foundUser` rejects with `resource_not_found` for an unknown account. */
export function createKeyStore(db: Kysely<Schema>, foundUser: (id: string) => Promise<unknown>) {
  const ofUser = (userId: string) => db.selectFrom('api_key').where('user_id', '=', userId)

  return {
    async list(userId: string) {
      await foundUser(userId)
      const rows = await ofUser(userId).selectAll().orderBy('id', 'desc').execute()
      return { keys: rows.map(toKey) }
    },
    async create(userId: string, fields: NewKey) {
      await foundUser(userId)
      const { total } = await ofUser(userId)
        .select(({ fn }) => fn.countAll<bigint>().as('total'))
        .executeTakeFirstOrThrow()
      if (total < mostKeys) return insertKey(db, userId, fields)
      throw invalidRequest(null, 'limit_reached', `An account has at most ${mostKeys} keys.`)
    },
    async change(userId: string, id: string, fields: ChangedKey) {
      checkIds(userId, id)
      const { name, permissions, expires_at } = fields
      const row = await db
        .updateTable('api_key')
        .set({
          id,
          ...present({ name, permissions, expires_at }),
          ...toLimitColumns(fields),
        })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      return toKey(row)
    },
    async delete(userId: string, id: string) {
      checkIds(userId, id)
      const row = await db
        .deleteFrom('api_key')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returning('id')
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      return { success: true, message: 'The key was deleted.' }
    },
  }
}

/** The secret is in this answer and nowhere else. */
async function insertKey(db: Kysely<Schema>, userId: string, fields: NewKey) {
  const key = newApiKey()
  const { expires_at, expires_in_days: days } = fields
  const expiresAt = days === undefined ? expires_at : new Date(Date.now() + days * dayMs)
  const row = await db
    .insertInto('api_key')
    .values({
      id: newId('key'),
      user_id: userId,
      key_prefix: shownPart(key),
      hash: Buffer.from(hashOf(key), 'hex'),
      name: fields.name,
      permissions: fields.permissions,
      expires_at: expiresAt ?? null,
      ...toLimitColumns(fields),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { ...toKey(row), key, message: 'Keep this key: it is not shown again.' }
}

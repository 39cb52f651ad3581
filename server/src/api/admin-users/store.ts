import type { Kysely, Selectable } from 'kysely'
import type { ChangedKey, ChangedUser, NewKey, NewUser } from './schema'
import { hashOf, newApiKey, shownPart } from '../../auth/api-key'
import { newId } from '../../db/id'
import type { ApiKeyRow, Schema, UserRow } from '../../db/schema'
import { ApiError, invalidRequest } from '../../errors'
import { toTimestamp, toUsd } from '../../http/fields'
import { containing, toPagination, type Page } from '../../http/paging'

const mostKeys = 50
const dayMs = 86_400_000

const toUser = (row: Selectable<UserRow>) => ({
  id: row.id,
  email: row.email,
  display_name: row.display_name,
  status: row.status,
  is_operator: row.is_operator,
  last_active_at: row.last_active_at && toTimestamp(row.last_active_at),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

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

const isTaken = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23505'

const emailTaken = (thrown: unknown) => {
  if (!isTaken(thrown)) throw thrown
  throw invalidRequest('email', 'taken', 'email: another account has this address.')
}

export type UserStore = ReturnType<typeof createUserStore>

/** Accounts and their keys, for operators. All reject with `resource_not_found` for unknown ids. */
export function createUserStore(db: Kysely<Schema>) {
  async function found(id: string) {
    const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) throw new ApiError('resource_not_found')
    return toUser(row)
  }

  async function change(id: string, fields: Partial<Selectable<UserRow>>) {
    const row = await db
      .updateTable('users')
      .set({ ...fields, updated_at: new Date() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
      .catch(emailTaken)
    if (!row) throw new ApiError('resource_not_found')
    return toUser(row)
  }

  return {
    list: (page: Page, search: string | undefined) => listUsers(db, page, search),
    get: found,
    async create({ email, display_name, is_operator }: NewUser) {
      const row = await db
        .insertInto('users')
        .values({
          id: newId('user'),
          email,
          display_name: display_name ?? email.slice(0, email.indexOf('@')),
          is_operator,
        })
        .returningAll()
        .executeTakeFirstOrThrow()
        .catch(emailTaken)
      return toUser(row)
    },
    change: (id: string, fields: ChangedUser) =>
      change(
        id,
        // Fields that were not sent stay as they are.
        Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
      ),
    suspend: (id: string, reason: string) =>
      change(id, { status: 'suspended', suspended_reason: reason }),
    reinstate: (id: string) => change(id, { status: 'active', suspended_reason: null }),
    keys: createKeyStore(db, found),
  }
}

async function listUsers(db: Kysely<Schema>, page: Page, search: string | undefined) {
  const filtered = db
    .selectFrom('users')
    .$if(search !== undefined, (query) =>
      query.where((is) =>
        is.or([
          is('email', 'ilike', containing(search ?? '')),
          is('display_name', 'ilike', containing(search ?? '')),
        ]),
      ),
    )
  const [count, rows] = await Promise.all([
    filtered.select(({ fn }) => fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
    filtered
      .selectAll()
      .$if(page.before !== undefined, (query) => query.where('id', '<', page.before ?? ''))
      .orderBy('id', 'desc')
      .limit(page.limit + 1)
      .offset(page.offset)
      .execute(),
  ])
  const shown = rows.slice(0, page.limit)
  const lastId = shown.at(-1)?.id
  const more = rows.length > shown.length
  return {
    users: shown.map(toUser),
    pagination: toPagination(page, Number(count.total), { count: shown.length, lastId, more }),
  }
}

function createKeyStore(db: Kysely<Schema>, foundUser: (id: string) => Promise<unknown>) {
  return {
    async list(userId: string) {
      await foundUser(userId)
      const rows = await db
        .selectFrom('api_key')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('id', 'desc')
        .execute()
      return { keys: rows.map(toKey) }
    },
    /** The secret is in this answer and nowhere else. */
    async create(userId: string, fields: NewKey) {
      await foundUser(userId)
      const { total } = await db
        .selectFrom('api_key')
        .select(({ fn }) => fn.countAll<bigint>().as('total'))
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow()
      if (total >= mostKeys) {
        throw invalidRequest(null, 'limit_reached', `An account has at most ${mostKeys} keys.`)
      }
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
    },
    async change(userId: string, id: string, fields: ChangedKey) {
      const { name, permissions, expires_at } = fields
      const row = await db
        .updateTable('api_key')
        .set({
          ...(name !== undefined && { name }),
          ...(permissions && { permissions }),
          ...(expires_at !== undefined && { expires_at }),
          ...toLimitColumns(fields),
          id,
        })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      return toKey(row)
    },
    async delete(userId: string, id: string) {
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

function toLimitColumns(fields: Partial<NewKey & ChangedKey>) {
  const {
    rate_limit_requests_per_minute: requests,
    rate_limit_tokens_per_minute: tokens,
    max_concurrent_requests: concurrent,
    monthly_spend_limit: spend,
  } = fields
  return {
    ...(requests !== undefined && { requests_per_minute: requests }),
    ...(tokens !== undefined && { tokens_per_minute: tokens }),
    ...(concurrent !== undefined && { max_concurrent_requests: concurrent }),
    ...(spend !== undefined && { monthly_spend_limit: spend }),
  }
}

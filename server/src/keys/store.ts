import type { Kysely, Selectable, Transaction } from 'kysely'
import { lockAccount } from '../platform/db/account-row'
import { endPreviousSecrets, readPreviousSecrets, type PreviousSecret } from './previous-secrets'
import { noUsage, readKeyUsage } from './spending'
import type { ChangedKey, NewKey } from './schema'
import { hashOf, newApiKey, keyPrefix } from '../auth/api-key'
import { isPermission } from '../auth/principal'
import { isId, newId } from '../platform/db/id'
import type { ApiKeyRow, Schema } from '../platform/db/schema'
import { listsOf, type AccessListName } from '../platform/access-lists'
import { noteCreated } from '../platform/db/background-work'
import { ApiError, invalidRequest } from '../errors'
import { present, toTimestamp } from '../http/fields'
import { toUsdOrNull } from '../wire/usd'

const maxKeys = 50
const dayMs = 86_400_000

/** A pause that has ended is no pause. */
function toPause({ disabled_at, disabled_until }: Selectable<ApiKeyRow>) {
  const isDisabled = disabled_at !== null && !(disabled_until && disabled_until <= new Date())
  return {
    disabled: isDisabled,
    disabled_until: isDisabled && disabled_until ? toTimestamp(disabled_until) : null,
  }
}

const toPauseColumns = ({ disabled, disabled_until }: ChangedKey) => {
  if (disabled === undefined) return {}
  return { disabled_at: disabled ? new Date() : null, disabled_until: disabled_until ?? null }
}

const toKey = (row: Selectable<ApiKeyRow>, previous: readonly PreviousSecret[] = []) => ({
  id: row.id,
  name: row.name,
  key_prefix: row.key_prefix,
  permissions: row.permissions.filter(isPermission),
  expires_at: row.expires_at && toTimestamp(row.expires_at),
  previous_secrets: [...previous],
  last_used_at: row.last_used_at && toTimestamp(row.last_used_at),
  last_used_address: row.last_used_address,
  rate_limit_requests_per_minute: row.requests_per_minute,
  rate_limit_tokens_per_minute: row.tokens_per_minute,
  rate_limit_images_per_minute: row.images_per_minute,
  rate_limit_audio_seconds_per_minute: row.audio_seconds_per_minute,
  max_concurrent_requests: row.max_concurrent_requests,
  monthly_spend_limit: toUsdOrNull(row.monthly_spend_limit),
  ...listsOf(row),
  allowed_addresses: row.allowed_addresses,
  tags: row.tags ?? [],
  ...toPause(row),
  created_at: toTimestamp(row.created_at),
})

/** Returns the expiry of a new key, null for never. */
export const expiryOf = ({ expires_at: at, expires_in_days: days }: NewKey): Date | null =>
  days === undefined ? (at ?? null) : new Date(Date.now() + days * dayMs)

type Limits = Pick<
  ChangedKey,
  | 'rate_limit_requests_per_minute'
  | 'rate_limit_tokens_per_minute'
  | 'rate_limit_images_per_minute'
  | 'rate_limit_audio_seconds_per_minute'
  | 'max_concurrent_requests'
  | 'monthly_spend_limit'
  | 'allowed_addresses'
  | 'tags'
  | AccessListName
>

const toLimitColumns = (fields: Limits) =>
  present({
    requests_per_minute: fields.rate_limit_requests_per_minute,
    tokens_per_minute: fields.rate_limit_tokens_per_minute,
    images_per_minute: fields.rate_limit_images_per_minute,
    audio_seconds_per_minute: fields.rate_limit_audio_seconds_per_minute,
    max_concurrent_requests: fields.max_concurrent_requests,
    monthly_spend_limit: fields.monthly_spend_limit,
    ...listsOf(fields),
    allowed_addresses: fields.allowed_addresses,
    tags: fields.tags?.length === 0 ? null : fields.tags,
  })

/** Rejects malformed ids without a query. */
function checkIds(userId: string, id: string): void {
  if (!isId('user', userId) || !isId('key', id)) throw new ApiError('resource_not_found')
}

interface KeyPorts {
  db: Kysely<Schema>
  /** Rejects with `resource_not_found` for an unknown account. */
  checkOwner: (userId: string) => Promise<unknown>
  /** Invalidates a cached key that was changed or deleted, by its secret's hash in hexadecimal. */
  onChanged?: ((hash: string) => void) | undefined
}

/** The keys of accounts. All reject with `resource_not_found` for unknown and foreign ids. */
export function createKeyStore({ db, checkOwner, onChanged }: KeyPorts) {
  return {
    async list(userId: string) {
      await checkOwner(userId)
      return { keys: await listKeys(db, userId) }
    },
    async create(userId: string, fields: NewKey) {
      if (!isId('user', userId)) throw new ApiError('resource_not_found')
      return db.transaction().execute(async (trx) => {
        await checkCount(trx, userId)
        return insertKey(trx, userId, fields)
      })
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
          ...toPauseColumns(fields),
        })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      const ended = fields.previous_secrets !== undefined ? await endPreviousSecrets(db, id) : []
      const previous = (await readPreviousSecrets(db, [id]))(id)
      for (const hash of [row.hash.toString('hex'), ...ended, ...previous.hashes]) onChanged?.(hash)
      return toKey(row, previous.secrets)
    },
    async delete(userId: string, id: string) {
      checkIds(userId, id)
      const previous = (await readPreviousSecrets(db, [id]))(id)
      const row = await db
        .deleteFrom('api_key')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returning('hash')
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      for (const hash of [row.hash.toString('hex'), ...previous.hashes]) onChanged?.(hash)
      return { success: true as const, message: 'The key was deleted.' }
    },
  }
}

async function listKeys(db: Kysely<Schema>, userId: string) {
  const rows = await db
    .selectFrom('api_key')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .execute()
  const ids = rows.map(({ id }) => id)
  const [usage, previousOf] = await Promise.all([
    readKeyUsage(db, userId),
    readPreviousSecrets(db, ids),
  ])
  return rows.map((row) => ({
    ...toKey(row, previousOf(row.id).secrets),
    usage: usage.get(row.id) ?? noUsage,
  }))
}

/** Locks the account, so that concurrent requests count keys one after the other. */
async function checkCount(trx: Transaction<Schema>, userId: string): Promise<void> {
  await lockAccount(trx, userId)
  const { total } = await trx
    .selectFrom('api_key')
    .where('user_id', '=', userId)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total < maxKeys) return
  throw invalidRequest(null, 'limit_reached', `An account has at most ${maxKeys} keys.`)
}

/** Inserts a key. Its secret is in this answer only. */
export async function insertKey(db: Kysely<Schema>, userId: string, fields: NewKey) {
  const key = newApiKey()
  const id = newId('key')
  noteCreated(id)
  const row = await db
    .insertInto('api_key')
    .values({
      id,
      user_id: userId,
      key_prefix: keyPrefix(key),
      hash: Buffer.from(hashOf(key), 'hex'),
      name: fields.name,
      permissions: fields.permissions,
      expires_at: expiryOf(fields),
      ...toLimitColumns(fields),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { ...toKey(row), key, message: 'Keep this key: it is not shown again.' }
}

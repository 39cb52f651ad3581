import type { Kysely } from 'kysely'
import { hashOf, newApiKey, keyPrefix } from '../../../auth/api-key'
import { may, rejectLimitedKey, type Principal } from '../../../auth/principal'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { keepReplacedSecret, readPreviousSecrets } from '../../../keys/previous-secrets'
import type { ChangedKey, NewKey, Rotation } from '../../../keys/schema'
import { createKeyStore, expiryOf } from '../../../keys/store'

interface OwnKeyPorts {
  db: Kysely<Schema>
  /** Invalidates a cached key that was changed or deleted, by its secret's hash in hexadecimal. */
  onChanged: (hash: string) => void
}

export type OwnKeyStore = ReturnType<typeof createOwnKeyStore>

/** Keys of the calling account. Unknown and foreign ids reject with `resource_not_found`. */
export function createOwnKeyStore({ db, onChanged }: OwnKeyPorts) {
  const keys = createKeyStore({ db, checkOwner: () => Promise.resolve(), onChanged })
  return {
    list: ({ userId }: Principal) => keys.list(userId),
    async create(asker: Principal, fields: NewKey) {
      checkNarrower(asker, fields)
      return keys.create(asker.userId, fields)
    },
    async change(asker: Principal, id: string, fields: ChangedKey) {
      await checkChange(db, asker, { id, fields })
      return keys.change(asker.userId, id, fields)
    },
    delete: ({ userId }: Principal, id: string) => keys.delete(userId, id),
    async rotate(asker: Principal, id: string, { overlap_seconds: overlapSeconds }: Rotation) {
      const { hashes, ...rotatedKey } = await rotate(db, asker, { id, overlapSeconds })
      for (const hash of hashes) onChanged(hash)
      return { ...rotatedKey, previous_secrets: (await readPreviousSecrets(db, [id]))(id).secrets }
    },
  }
}

/**
 * Rejects a key with a spending or rate limit of its own: each key is counted by itself, so that further keys
 * would multiply the limit, however low theirs are.
 */
const checkUnlimited = (asker: Principal) =>
  rejectLimitedKey(asker, 'create, change or rotate keys')

/** Rejects a key with more permissions or a longer life than the calling key. Source: contract 6.4. */
function checkNarrower(asker: Principal, fields: NewKey): void {
  checkUnlimited(asker)
  const missingPermission = fields.permissions.find((permission) => !may(asker, permission))
  if (missingPermission !== undefined) {
    const message = `permissions: the API key of this request lacks "${missingPermission}" itself.`
    throw invalidRequest('permissions', 'not_allowed', message)
  }
  checkExpiry(asker, expiryOf(fields))
}

/** Rejects an expiry after that of the calling key. */
function checkExpiry(asker: Principal, expiry: Date | null): void {
  const limitMs = outlived(asker, expiry)
  if (limitMs === undefined) return
  const end = toTimestamp(new Date(limitMs))
  const message = `expires_at: the API key of this request expires at ${end}; send that or an earlier time.`
  throw invalidRequest('expires_at', 'not_allowed', message)
}

interface KeyChange {
  id: string
  fields: ChangedKey
}

/** Rejects a change by which a key would get round its own limits, or outlive itself. Source: contract 6.4. */
async function checkChange(
  db: Kysely<Schema>,
  asker: Principal,
  { id, fields }: KeyChange,
): Promise<void> {
  checkUnlimited(asker)
  if (fields.expires_at !== undefined) checkExpiry(asker, fields.expires_at)
  if (id === asker.keyId || asker.expiresAtMs === null || !isId('key', id)) return
  const row = await db
    .selectFrom('api_key')
    .select('expires_at')
    .where('id', '=', id)
    .where('user_id', '=', asker.userId)
    .executeTakeFirst()
  // The calling key could leave behind a key that may do more, and lives longer.
  if (row && outlived(asker, row.expires_at) !== undefined) throw livesLonger()
}

const livesLonger = () =>
  invalidRequest(
    null,
    'not_allowed',
    'The key expires later than the API key of this request. Use an API key that lives at least as long.',
  )

/** Returns the expiry of the calling key, where the other one would outlive it. */
function outlived({ expiresAtMs }: Principal, other: Date | null): number | undefined {
  if (expiresAtMs === null) return undefined
  return other === null || other.getTime() > expiresAtMs ? expiresAtMs : undefined
}

/** Rejects a secret that a rotation has replaced: it could make itself valid for ever. */
function checkCurrent({ secretEndsAtMs }: Principal): void {
  if (typeof secretEndsAtMs !== 'number') return
  const message = 'This secret was replaced by a rotation. Use the new secret of the key.'
  throw invalidRequest(null, 'not_allowed', message)
}

interface SecretRotation {
  id: string
  overlapSeconds: number
}

/** Replaces the secret of a key, and resolves with the hashes of its earlier secrets, whose ends have changed. */
async function rotate(
  db: Kysely<Schema>,
  asker: Principal,
  { id, overlapSeconds }: SecretRotation,
) {
  checkCurrent(asker)
  if (!isId('key', id)) throw new ApiError('resource_not_found')
  const { userId } = asker
  if (id !== asker.keyId) checkUnlimited(asker)
  const key = newApiKey()
  const key_prefix = keyPrefix(key)
  const rotatedAt = new Date()
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('api_key')
      .select(['hash', 'key_prefix', 'expires_at'])
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!row) throw new ApiError('resource_not_found')
    if (row.expires_at && row.expires_at <= rotatedAt) {
      throw invalidRequest(null, 'wrong_state', 'The key has expired. Create a new one.')
    }
    // The caller learns the new secret.
    if (id !== asker.keyId && outlived(asker, row.expires_at) !== undefined) {
      throw livesLonger()
    }
    const replaced = { keyId: id, hash: row.hash, keyPrefix: row.key_prefix, overlapSeconds }
    const hashes = await keepReplacedSecret(trx, replaced)
    await trx
      .updateTable('api_key')
      .set({ hash: Buffer.from(hashOf(key), 'hex'), key_prefix })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .execute()
    return {
      id,
      key,
      key_prefix,
      rotated_at: toTimestamp(rotatedAt),
      hashes,
    }
  })
}

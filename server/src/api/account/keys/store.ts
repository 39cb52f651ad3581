import type { Kysely } from 'kysely'
import { hashOf, newApiKey, shownPart } from '../../../auth/api-key'
import { hasOwnLimits, may, type Principal } from '../../../auth/principal'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import type { NewKey } from '../../../keys/schema'
import { createKeyStore, expiryOf } from '../../../keys/store'

interface OwnKeyPorts {
  db: Kysely<Schema>
  /** Invalidates a cached key, by its secret's hash in hexadecimal. */
  forgotten: (hash: string) => void
}

export type OwnKeyStore = ReturnType<typeof createOwnKeyStore>

/** Keys of the calling account. Unknown and foreign ids reject with `resource_not_found`. */
export function createOwnKeyStore({ db, forgotten }: OwnKeyPorts) {
  const keys = createKeyStore({ db, checkOwner: () => Promise.resolve(), forgotten })
  return {
    list: ({ userId }: Principal) => keys.list(userId),
    async create(asker: Principal, fields: NewKey) {
      checkNarrower(asker, fields)
      return keys.create(asker.userId, fields)
    },
    delete: ({ userId }: Principal, id: string) => keys.delete(userId, id),
    async rotate(asker: Principal, id: string) {
      const { hash, ...rotated } = await rotate(db, asker, id)
      forgotten(hash)
      return rotated
    },
  }
}

/**
 * Rejects a key with a spending or rate limit of its own: each key is counted by itself, so that further keys
 * would multiply the limit, however low theirs are.
 */
function checkUnlimited(asker: Principal): void {
  if (!hasOwnLimits(asker)) return
  const words =
    'The key of this request has limits of its own, so it cannot create keys or rotate others. ' +
    'Use a key without limits, or sign in.'
  throw invalidRequest(null, 'not_allowed', words)
}

/** Rejects a key with more permissions or a longer life than the calling key. Source: contract 6.4. */
function checkNarrower(asker: Principal, fields: NewKey): void {
  checkUnlimited(asker)
  const beyond = fields.permissions.find((permission) => !may(asker, permission))
  if (beyond !== undefined) {
    const words = `permissions: the key that asks has not "${beyond}" itself.`
    throw invalidRequest('permissions', 'not_allowed', words)
  }
  const limitMs = outlived(asker, expiryOf(fields))
  if (limitMs === undefined) return
  const end = toTimestamp(new Date(limitMs))
  const words = `expires_at: the key that asks expires at ${end}; send that or an earlier time.`
  throw invalidRequest('expires_at', 'not_allowed', words)
}

/** Returns the expiry of the calling key, where the other one would outlive it. */
function outlived({ expiresAtMs }: Principal, other: Date | null): number | undefined {
  if (expiresAtMs === null) return undefined
  return other === null || other.getTime() > expiresAtMs ? expiresAtMs : undefined
}

/** Replaces the secret of a key, and resolves with the hash of the old one. */
async function rotate(db: Kysely<Schema>, asker: Principal, id: string) {
  if (!isId('key', id)) throw new ApiError('resource_not_found')
  const { userId } = asker
  if (id !== asker.keyId) checkUnlimited(asker)
  const key = newApiKey()
  const key_prefix = shownPart(key)
  const rotatedAt = new Date()
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('api_key')
      .select(['hash', 'expires_at'])
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
      const words = 'The key lives longer than the one that asks. Ask with one that lives as long.'
      throw invalidRequest(null, 'not_allowed', words)
    }
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
      hash: row.hash.toString('hex'),
    }
  })
}

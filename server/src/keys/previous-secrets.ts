import { sql, type Kysely, type Transaction } from 'kysely'
import { invalidRequest } from '../errors'
import { toTimestamp } from '../http/fields'
import type { Schema } from '../platform/db/schema'

/** The most secrets of one key that are valid beside its own. */
const maxPrevious = 5

/** A secret that a rotation has replaced, as the API shows it. */
export interface PreviousSecret {
  key_prefix: string
  expires_at: string
}

/** The replaced secrets of keys that are valid now, with their hashes in hexadecimal. */
interface PreviousSecrets {
  secrets: PreviousSecret[]
  hashes: string[]
}

/** Reads the replaced secrets of keys that are valid now, by key. */
export async function readPreviousSecrets(
  db: Kysely<Schema>,
  keyIds: readonly string[],
): Promise<(keyId: string) => PreviousSecrets> {
  const rows =
    keyIds.length === 0
      ? []
      : await db
          .selectFrom('previous_secret')
          .selectAll()
          .where('key_id', 'in', keyIds)
          .where('expires_at', '>', sql<Date>`now()`)
          .orderBy('expires_at', 'desc')
          .execute()
  return (keyId) => {
    const own = rows.filter((row) => row.key_id === keyId)
    return {
      secrets: own.map(({ key_prefix, expires_at }) => ({
        key_prefix,
        expires_at: toTimestamp(expires_at),
      })),
      hashes: own.map(({ hash }) => hash.toString('hex')),
    }
  }
}

/** Ends all replaced secrets of a key. Resolves with their hashes in hexadecimal. */
export async function endPreviousSecrets(db: Kysely<Schema>, keyId: string): Promise<string[]> {
  const rows = await db
    .deleteFrom('previous_secret')
    .where('key_id', '=', keyId)
    .returning('hash')
    .execute()
  return rows.map(({ hash }) => hash.toString('hex'))
}

interface ReplacedSecret {
  keyId: string
  hash: Buffer
  keyPrefix: string
  overlapSeconds: number
}

/**
 * Keeps a replaced secret valid until the end of an overlap, and the earlier ones no longer than it. Resolves with the
 * hashes of all of them. Rejects with `invalid_request` for too many.
 */
export async function keepReplacedSecret(
  trx: Transaction<Schema>,
  { keyId, hash, keyPrefix, overlapSeconds }: ReplacedSecret,
): Promise<string[]> {
  const end = sql<Date>`now() + make_interval(secs => ${overlapSeconds})`
  const own = hash.toString('hex')
  if (overlapSeconds === 0) return [own, ...(await endPreviousSecrets(trx, keyId))]
  await trx
    .deleteFrom('previous_secret')
    .where('key_id', '=', keyId)
    .where('expires_at', '<=', sql<Date>`now()`)
    .execute()
  const earlier = await trx
    .updateTable('previous_secret')
    .set({ expires_at: sql<Date>`least(expires_at, ${end})` })
    .where('key_id', '=', keyId)
    .returning('hash')
    .execute()
  if (earlier.length >= maxPrevious) throw tooMany()
  await trx
    .insertInto('previous_secret')
    .values({ hash, key_id: keyId, key_prefix: keyPrefix, expires_at: end })
    .execute()
  return [own, ...earlier.map((row) => row.hash.toString('hex'))]
}

const tooMany = () =>
  invalidRequest(
    null,
    'limit_reached',
    `A key has at most ${maxPrevious} earlier secrets. Wait until one expires, or end them with previous_secrets null.`,
  )

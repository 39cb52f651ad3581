import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from './schema'
import { getKeyId, seal, signingSecret, unseal, type SealingKeys } from './sealed'

/** The secrets of an installation, by their use. */
type SecretId = 'sign-in' | 'provider-identifiers'

/**
 * Returns a secret of the installation, the same on every node and after every start: created by the first call, and
 * stored sealed in the database.
 */
export async function readInstallationSecret(
  db: Kysely<Schema>,
  keys: SealingKeys,
  id: SecretId,
): Promise<string> {
  const existingSecret = await find(db, keys, id)
  if (existingSecret !== undefined) return existingSecret
  const secret = seal(randomBytes(32).toString('base64url'), keys, signingSecret(id))
  await db
    .insertInto('signing_secret')
    .values({ id, secret, secret_key_id: getKeyId(secret) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const stored = await find(db, keys, id)
  if (stored === undefined) throw new Error(`the secret of ${id} could not be kept`)
  return stored
}

async function find(
  db: Kysely<Schema>,
  keys: SealingKeys,
  id: SecretId,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('signing_secret')
    .select('secret')
    .where('id', '=', id)
    .executeTakeFirst()
  return row && unseal(row.secret, keys, signingSecret(id))
}

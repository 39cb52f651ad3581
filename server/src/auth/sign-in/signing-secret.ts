import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from '../../platform/db/schema'
import { getKeyId, seal, signingSecret, unseal, type SealingKeys } from '../../platform/db/sealed'

const id = 'sign-in'

/**
 * Returns the secret that signs cookies and encrypts second factors, the same on every node: created by the first
 * call, and stored sealed in the database.
 */
export async function readSigningSecret(db: Kysely<Schema>, keys: SealingKeys): Promise<string> {
  const existing = await find(db, keys)
  if (existing !== undefined) return existing
  const secret = seal(randomBytes(32).toString('base64url'), keys, signingSecret(id))
  await db
    .insertInto('signing_secret')
    .values({ id, secret, secret_key_id: getKeyId(secret) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const stored = await find(db, keys)
  if (stored === undefined) throw new Error('the secret of sign-in could not be kept')
  return stored
}

async function find(db: Kysely<Schema>, keys: SealingKeys): Promise<string | undefined> {
  const row = await db
    .selectFrom('signing_secret')
    .select('secret')
    .where('id', '=', id)
    .executeTakeFirst()
  return row && unseal(row.secret, keys, signingSecret(id))
}

import type { Kysely } from 'kysely'
import { StartError } from '../config'
import type { Schema } from '../db/schema'
import { connectionSecret, keyIdOf, unseal, type SealingKeys } from '../db/sealed'

/**
 * Without the key of the stored secrets every connection would silently be gone: one secret of each key
 * is opened. Throws `StartError` where none opens.
 */
export async function checkSealingKeys(
  query: Kysely<Schema>,
  keys: SealingKeys,
  log: (line: string) => void,
): Promise<void> {
  const samples = await query
    .selectFrom('connection')
    .distinctOn('secret_key_id')
    .select(['id', 'secret', 'secret_key_id'])
    .where('secret', 'is not', null)
    .orderBy('secret_key_id')
    .execute()
  const closed = samples.flatMap(({ id, secret }) => {
    try {
      if (secret) unseal(secret, keys, connectionSecret(id))
      return []
    } catch {
      return secret ? [keyIdOf(secret)] : []
    }
  })
  if (closed.length === 0) return
  const names = closed.map((id) => `"${id}"`).join(', ')
  if (closed.length < samples.length) {
    log(`secrets that were sealed with ${names} do not open: ENCRYPTION_KEY lacks that key`)
    return
  }
  throw new StartError(
    `ENCRYPTION_KEY is not the one that the secrets in this database were sealed with, ${names}. Restore it.`,
  )
}

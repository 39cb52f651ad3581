import type { Kysely } from 'kysely'
import { StartError } from '../config'
import type { Schema } from '../db/schema'
import { getKeyId, secretPlaces, unseal, type SealedAt, type SealingKeys } from '../db/sealed'

/** One stored secret of each place and key. */
async function samplesOf(query: Kysely<Schema>) {
  const samples: { secret: Buffer; at: SealedAt }[] = []
  for (const { table, at } of secretPlaces) {
    const rows = await query
      .selectFrom(table)
      .distinctOn('secret_key_id')
      .select(['id', 'secret'])
      .where('secret', 'is not', null)
      .orderBy('secret_key_id')
      .execute()
    for (const { id, secret } of rows) if (secret) samples.push({ secret, at: at(id) })
  }
  return samples
}

/** Whether anything is stored that only a sealing key opens. */
export const hasSecrets = async (query: Kysely<Schema>) => (await samplesOf(query)).length > 0

/**
 * Without the key of the stored secrets every connection would silently be gone, and every session and second
 * factor: one secret of each key is opened. Throws `StartError` where none opens.
 */
export async function checkSealingKeys(
  query: Kysely<Schema>,
  keys: SealingKeys,
  log: (line: string) => void,
): Promise<void> {
  const samples = await samplesOf(query)
  const closed = samples.flatMap(({ secret, at }) => {
    try {
      unseal(secret, keys, at)
      return []
    } catch {
      return [getKeyId(secret)]
    }
  })
  if (closed.length === 0) return
  const names = [...new Set(closed)].map((id) => `"${id}"`).join(', ')
  if (closed.length < samples.length) {
    log(`secrets that were sealed with ${names} do not open: ENCRYPTION_KEY lacks that key`)
    return
  }
  throw new StartError(
    `ENCRYPTION_KEY is not the one that the secrets in this database were sealed with, ${names}. Restore it.`,
  )
}

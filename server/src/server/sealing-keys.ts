import { sql, type Kysely } from 'kysely'
import { StartError } from '../platform/config/config'
import type { Schema } from '../platform/db/schema'
import {
  getKeyId,
  secretColumns,
  unseal,
  type SealedAt,
  type SealingKeys,
} from '../platform/db/sealed'

/** Returns one stored secret for each place and key. */
async function samplesOf(query: Kysely<Schema>) {
  const samples: { secret: Buffer; at: SealedAt }[] = []
  for (const { table, column, keyId, at } of secretColumns) {
    const { rows } = await sql<{ id: string; secret: Buffer }>`
      select distinct on (${sql.ref(keyId)}) id, ${sql.ref(column)} as secret
      from ${sql.table(table)} where ${sql.ref(column)} is not null
      order by ${sql.ref(keyId)}`.execute(query)
    for (const { id, secret } of rows) samples.push({ secret, at: at(id) })
  }
  return samples
}

/** Whether any secret is stored, which needs a sealing key to open. */
export const hasSecrets = async (query: Kysely<Schema>) => (await samplesOf(query)).length > 0

/**
 * Checks the sealing keys by opening one secret of each: without the right key every connection, session and second
 * factor would silently be lost. Throws `StartError` if none opens.
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
    log(`secrets encrypted with ${names} cannot be decrypted: ENCRYPTION_KEY lacks that key`)
    return
  }
  throw new StartError(
    `ENCRYPTION_KEY is not the one that the secrets in this database were sealed with, ${names}. Restore it.`,
  )
}

import type { Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'
import { readTexts } from '../ledger/usage-record'
import { selfHostedGateway } from './log-record'

/** Finds the existing connections of these usage records that belong to self-hosted gateways. */
export async function findSelfHosted(
  db: Kysely<Schema>,
  records: readonly string[],
): Promise<ReadonlySet<string>> {
  const ids = new Set(records.flatMap((record) => readTexts(record)('connection_id') ?? []))
  if (ids.size === 0) return new Set()
  const rows = await db
    .selectFrom('connection')
    .select('id')
    .where('id', 'in', [...ids])
    .where('gateway_type', '=', selfHostedGateway)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

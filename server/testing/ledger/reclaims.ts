import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../src/platform/db/schema'

/** Reads the time of the last reclaim of an account, as nodes receive it; 0 where there is none. */
export async function lastReclaimOf(db: Kysely<Schema>, accountId: string): Promise<bigint> {
  const { rows } = await sql<{ at: bigint }>`
    select coalesce(max((extract(epoch from recalled_at) * 1000000)::bigint), 0) as at
    from credit_demand where account_id = ${accountId}`.execute(db)
  return rows[0]?.at ?? 0n
}

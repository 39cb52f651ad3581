import { sql, type Kysely } from 'kysely'
import { z } from 'zod'
import { deleteAccount, exportedTables, type ExportedTable } from './tables'
import type { ClickHouse } from '../../platform/clickhouse/client'
import type { Schema } from '../../platform/db/schema'

/** The time after which a deletion is verified: no insertion that was sent before it arrives any more. */
const verifyAfter = sql`interval '10 minutes'`
const maxErasures = 100

const Count = z.object({ found: z.coerce.bigint() })

/**
 * Deletes the logs of erased accounts, and verifies it some minutes later: what is found then is deleted once more.
 * Runs between insertions, never beside one.
 */
export async function eraseAccounts(db: Kysely<Schema>, clickHouse: ClickHouse): Promise<void> {
  const { rows } = await sql<{ user_id: string; begun_at: Date | null }>`
    select user_id, begun_at from log_erasure
    where begun_at is null or begun_at < now() - ${verifyAfter}
    order by requested_at limit ${maxErasures}`.execute(db)
  for (const { user_id: userId, begun_at: begunAt } of rows) {
    if (begunAt && (await isErased(clickHouse, userId))) {
      await db.deleteFrom('log_erasure').where('user_id', '=', userId).execute()
      continue
    }
    for (const table of Object.values(exportedTables)) {
      await clickHouse.execute(deleteAccount(table, userId))
    }
    await sql`update log_erasure set begun_at = now() where user_id = ${userId}`.execute(db)
  }
}

async function isErased(clickHouse: ClickHouse, userId: string): Promise<boolean> {
  for (const table of Object.values(exportedTables)) {
    if ((await countOf(clickHouse, table, userId)) > 0n) return false
  }
  return true
}

async function countOf(
  clickHouse: ClickHouse,
  { name }: ExportedTable,
  userId: string,
): Promise<bigint> {
  const text = `SELECT count() AS found FROM ${name} WHERE user_id = {user:String}`
  const [row] = await clickHouse.select({ text, parameters: { user: userId } }, Count)
  return row?.found ?? 0n
}

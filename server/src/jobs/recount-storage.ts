import { sql, type Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Schema } from '../platform/db/schema'

const accountsPerBatch = 100
const budgetMs = 10_000

interface Due {
  userId: string
  /** No version has counted it yet. */
  isFirst: boolean
}

/**
 * Counts again what accounts have stored, each once a day and by itself, as far as the time of one run allows; those that
 * were never counted come first. The sums are exact by themselves: a difference is logged as an error.
 */
export async function recountStorage(
  db: Kysely<Schema>,
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const endsMs = performance.now() + budgetMs
  let due: Due[]
  do {
    due = await findDue(db)
    for (const { userId, isFirst } of due) {
      const bytes = await recount(db, userId)
      if (bytes === 0 || isFirst) continue
      log.error({ userId, bytes }, 'the sum of what an account has stored was wrong')
    }
  } while (due.length === accountsPerBatch && performance.now() < endsMs)
}

async function findDue(db: Kysely<Schema>): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select user_id as "userId", counted_at = '-infinity' as "isFirst" from account_storage
    where counted_at < now() - interval '1 day'
    order by counted_at limit ${accountsPerBatch}`.execute(db)
  return rows
}

/** Resolves with the number of bytes by which the sums were wrong. */
async function recount(db: Kysely<Schema>, userId: string): Promise<number> {
  const { rows } = await sql<{ wrong: bigint }>`
    select recount_stored(${userId}) as wrong`.execute(db)
  return Number(rows[0]?.wrong ?? 0n)
}

import { sql, type Kysely } from 'kysely'
import type { Schema } from './schema'

/** Numbers of our own, one for each job that one node does at a time. */
const jobs = { audit: 7_265_001, upkeep: 7_265_002, report: 7_265_021, payments: 7_265_014 }

/**
 * Does `work` unless a node does it already; undefined then. The lock is of a transaction that does
 * nothing else, so that it ends with its connection, whatever happens.
 */
export function alone<Result>(
  db: Kysely<Schema>,
  job: keyof typeof jobs,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  return db.transaction().execute(async (lock) => {
    const { rows } = await sql<{ isMine: boolean }>`
      select pg_try_advisory_xact_lock(${jobs[job]}) as "isMine"`.execute(lock)
    return rows[0]?.isMine ? work() : undefined
  })
}

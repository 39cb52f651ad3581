import { sql, type Kysely, type Transaction } from 'kysely'
import type { Schema } from './schema'

/** Our own lock numbers, one for each job that runs on one node at a time. */
const jobs = {
  audit: 7_265_001,
  upkeep: 7_265_002,
  report: 7_265_021,
  payments: 7_265_014,
  logExport: 7_265_024,
  invoices: 7_265_025,
}

/** Lock numbers of operations that run one at a time for each name. */
const operations = { platformDefault: 7_265_022, signInLink: 7_265_023 }

/** Waits for the lock of this operation and name, and holds it until the transaction ends. */
export async function waitForLock(
  trx: Transaction<Schema>,
  operation: keyof typeof operations,
  name: string,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(${operations[operation]}::integer, hashtext(${name}))`.execute(
    trx,
  )
}

/**
 * Runs `work` unless a node already runs this job; resolves with undefined then. The lock belongs to a transaction
 * without other statements, so it ends with its connection, whatever happens.
 */
export function runExclusively<Result>(
  db: Kysely<Schema>,
  job: keyof typeof jobs,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  return db.transaction().execute(async (lock) => {
    // The transaction locks no row, and is idle for as long as the job takes.
    const { rows } = await sql<{ isMine: boolean }>`
      select set_config('idle_in_transaction_session_timeout', '0', true),
        pg_try_advisory_xact_lock(${jobs[job]}) as "isMine"`.execute(lock)
    return rows[0]?.isMine ? work() : undefined
  })
}

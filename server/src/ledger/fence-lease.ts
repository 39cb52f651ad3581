import { sql, type Kysely } from 'kysely'
import { answerColumns, answersById, type LeaseAnswer, type LeaseAnswerRow } from './lease-answer'
import type { Schema } from '../platform/db/schema'

/** A lease whose last statement has an outcome unknown to the node. */
export interface FencedLease {
  leaseId: string
  /** The generation that the node knows. */
  generation: number
  accountId: string
}

/**
 * Finds out a lease's state under the account's lock and gives the lease a new generation: statements that were
 * sent before have no effect when they arrive. A lease that does not exist is created as ended. Undefined where
 * the account does not exist.
 */
export async function fenceLease(
  db: Kysely<Schema>,
  { leaseId, generation, accountId }: FencedLease,
  { nodeId, lockMs }: { nodeId: string; lockMs: number },
): Promise<LeaseAnswer | undefined> {
  const { rows } = await sql<LeaseAnswerRow>`
    select ${sql.raw(answerColumns)} from fence_lease(
      ${leaseId}, ${generation}::integer, ${accountId}, ${nodeId}, ${lockMs}::integer
    )`.execute(db)
  return answersById(rows).get(leaseId)
}

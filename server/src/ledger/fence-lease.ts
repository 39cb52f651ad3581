import { sql, type Kysely } from 'kysely'
import { answerColumns, answersById, type LeaseAnswer, type LeaseAnswerRow } from './lease-answer'
import type { Schema } from '../db/schema'

/** A lease of which the node does not know what became of its last statement. */
export interface FencedLease {
  leaseId: string
  /** As the node knows it. */
  generation: number
  accountId: string
}

/**
 * Finds out, under the account's lock, what a lease is, and gives it a new generation: statements that were sent
 * before do nothing when they come. One that does not exist is made, ended. Undefined where the account does not
 * exist.
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

import { sql, type Kysely } from 'kysely'
import { answerColumns, type LeaseAnswer, type LeaseAnswerRow } from './lease-answer'
import type { Locking } from './take-lease'
import type { Schema } from '../platform/db/schema'

/** A part of a lease that its node no longer wants. */
export interface Return {
  leaseId: string
  /** The generation that the node knows. */
  generation: number
  /** Nano-dollars, of what the lease has not spent: all that no running request holds. */
  amount: bigint
  /** The last reclaim that the node had received when it read `amount`: the return answers it and those before. */
  lastReclaim?: bigint
}

/** A lease after its return; see `LeaseAnswer`. */
export type ReturnAnswer = Pick<LeaseAnswer, 'isApplied' | 'generation' | 'isActive' | 'amount'>

/**
 * Returns parts of leases to their accounts, in one statement, and records which reclaims their
 * nodes have answered. A lease of which nothing is left ends when its node sets `isLast`. Nothing changes for a lease
 * that has another generation, has ended, or has spent more than its node knows. Resolves with answers by lease;
 * one is missing where its account was skipped.
 */
export async function returnLeases(
  db: Kysely<Schema>,
  returns: readonly Return[],
  { isLast, isSkipping, lockMs }: Locking & { isLast: boolean },
): Promise<Map<string, ReturnAnswer>> {
  const { rows } = await sql<LeaseAnswerRow>`
    select ${sql.raw(answerColumns)} from return_leases(
      ${returns.map(({ leaseId }) => leaseId)}::text[],
      ${returns.map(({ generation }) => generation)}::integer[],
      ${returns.map(({ amount }) => amount)}::bigint[],
      ${returns.map(({ lastReclaim = 0n }) => lastReclaim)}::bigint[],
      ${isLast}, ${isSkipping}, ${lockMs}::integer
    )`.execute(db)
  return new Map(
    rows.map(({ leaseId, isApplied, generation, isActive, amount }) => [
      leaseId,
      { isApplied, generation, isActive, amount },
    ]),
  )
}

import { sql, type Kysely } from 'kysely'
import { answerColumns, answersById, type LeaseAnswer, type LeaseAnswerRow } from './lease-answer'
import type { Schema } from '../platform/db/schema'

/** A node's request for an account's credit. Amounts are nano-dollars. */
export interface LeaseClaim {
  /** The node's own name for its lease; a lease that exists grows. */
  leaseId: string
  /** The lease's generation as the node knows it; 0 for a new lease. */
  generation: number
  accountId: string
  /** All that waiting requests need. It is given if it is there and no node that has waited longer needs it. */
  need: bigint
  /**
   * The free part of the lease, 0 by default: it counts for `need`, and goes to the node that has waited longest where
   * this one would wait. Its node uses nothing of it until the answer.
   */
  spare?: bigint
  /** An amount that would last a while. Given as far as this node's share of the rest allows. */
  wish: bigint
  /** Makes the other nodes return what they do not use, where the account has less than `need`. */
  isReclaiming: boolean
  /** The time since its node read `need` and `spare`, 0 by default. Milliseconds. */
  ageMs?: number
  /** The last reclaim that its node had received when it read `spare`: the claim answers it and those before. */
  lastReclaim?: bigint
}

/** The requesting node. */
export interface LeaseTaker {
  nodeId: string
  /** The number of nodes that share an account. */
  nodes: number
  lifeSeconds: number
  /** The time that a node stays in line without repeating its demand, where it is short. */
  demandSeconds: number
}

export type LeaseRequest = LeaseClaim & LeaseTaker

/** The largest `bigint` of PostgreSQL: more than any account can have, so that a request for it is one for all. */
const maxAmount = 2n ** 63n - 1n
const toBigint = (amount: bigint) => (amount < maxAmount ? amount : maxAmount)

/** The treatment of locked rows by a statement. */
export interface Locking {
  /** Leaves out accounts that are locked, instead of waiting for them. */
  isSkipping: boolean
  /** The server's wait for each lock; after it the statement fails with 55P03, having changed nothing. */
  lockMs: number
}

/** Reserves a part of an account's available balance for this node, or changes its lease. See `takeLeases`. */
export async function takeLease(
  db: Kysely<Schema>,
  request: LeaseRequest,
): Promise<LeaseAnswer | undefined> {
  const leases = await takeLeases(db, [request], { ...request, isSkipping: false, lockMs: 5000 })
  return leases.get(request.leaseId)
}

/**
 * Takes leases of several accounts, each once, in one statement and one commit. A lease that has ended, or has
 * another generation than its node knows, stays as it is, and its answer reports so. Resolves with answers by
 * lease; one is missing where its account does not exist or was skipped.
 */
export async function takeLeases(
  db: Kysely<Schema>,
  claims: readonly LeaseClaim[],
  { nodeId, nodes, lifeSeconds, demandSeconds, isSkipping, lockMs }: LeaseTaker & Locking,
): Promise<Map<string, LeaseAnswer>> {
  const { rows } = await sql<LeaseAnswerRow>`
    select ${sql.raw(answerColumns)} from claim_leases(
      ${claims.map(({ leaseId }) => leaseId)}::text[],
      ${claims.map(({ generation }) => generation)}::integer[],
      ${claims.map(({ accountId }) => accountId)}::text[],
      ${claims.map(({ need }) => toBigint(need))}::bigint[],
      ${claims.map(({ spare = 0n }) => spare)}::bigint[],
      ${claims.map(({ wish }) => toBigint(wish))}::bigint[],
      ${claims.map(({ isReclaiming }) => isReclaiming)}::boolean[],
      ${claims.map(({ ageMs = 0 }) => Math.ceil(ageMs))}::bigint[],
      ${claims.map(({ lastReclaim = 0n }) => lastReclaim)}::bigint[],
      ${nodeId}, ${nodes}::bigint, make_interval(secs => ${lifeSeconds}),
      make_interval(secs => ${demandSeconds}), ${isSkipping}, ${lockMs}::integer
    )`.execute(db)
  return answersById(rows)
}

import { sql, type Kysely } from 'kysely'
import { publishHeldAmounts, type HeldAmount } from './held-amounts'
import type { Schema } from '../platform/db/schema'

/** A notice that a node is short of an account's credit. */
export interface LeaseReclaim {
  accountId: string
  /** The id of the node that is short. */
  by: string
  /** The time, in microseconds of the database's clock: it identifies the reclaim. */
  at: bigint
}

/**
 * The time for which a node awaits answers to a reclaim. Other nodes receive it at once, or find it within two seconds;
 * what they return may wait for a lock or a commit. Nodes that have stopped renewing are not awaited. Milliseconds.
 */
export const maxAnswerMs = (roundTripMs: number) => 12_000 + 6 * roundTripMs

/** All live nodes have answered sooner, unless one of them has a fault: older answers are requested again. */
export const trustedAnswerMs = (roundTripMs: number) => 1000 + 10 * roundTripMs

// Longer than the time between two checks, so that none is missed.
const windowSeconds = 10

/**
 * Makes all nodes return what they do not use of an account, for `amount` nano-dollars that leave it otherwise
 * than by requests: until `seconds` have passed, nodes take nothing that this amount needs.
 */
export async function reclaimCredit(
  db: Kysely<Schema>,
  {
    accountId,
    amount,
    by,
    seconds,
  }: { accountId: string; amount: bigint; by: string; seconds: number },
): Promise<void> {
  await sql`
    with demand as (
      insert into credit_demand as known
      values (${accountId}, ${by}, ${amount}, now(), now(), now() + make_interval(secs => ${seconds}))
      on conflict (account_id, node_id) do update set
        amount = excluded.amount, since = excluded.since, recalled_at = excluded.recalled_at,
        until = excluded.until
      returning account_id, node_id, (extract(epoch from recalled_at) * 1000000)::bigint as at
    )
    select pg_notify('tollgate_recall', concat_ws(' ', node_id, account_id, at)) from demand
  `.execute(db)
}

/**
 * Reads recent reclaims of other nodes, and publishes held amounts in the same statement. Called every two
 * seconds.
 */
export async function findRecentReclaims(
  db: Kysely<Schema>,
  nodeId: string,
  heldAmounts: readonly HeldAmount[],
): Promise<LeaseReclaim[]> {
  const { rows } = await sql<LeaseReclaim>`
    ${publishHeldAmounts(heldAmounts)}
    select account_id as "accountId", node_id as by, (extract(epoch from recalled_at) * 1000000)::bigint as at
    from credit_demand
    where recalled_at > now() - make_interval(secs => ${windowSeconds}) and node_id <> ${nodeId}
  `.execute(db)
  return rows
}

/** Answers each reclaim once, although this node receives it once or twice. */
export class LeaseReclaimer {
  readonly #answer: (recall: LeaseReclaim) => void
  /** The last reclaim answered, by account. */
  readonly #answeredReclaims = new Map<string, bigint>()

  constructor(answer: (recall: LeaseReclaim) => void) {
    this.#answer = answer
  }

  /** Handles a notification. A node ignores its own. */
  onNotification(payload: string, nodeId: string): void {
    const [by = '', accountId = '', at = '0'] = payload.split(' ')
    if (by !== nodeId) this.note({ accountId, by, at: BigInt(at) })
  }

  note(reclaim: LeaseReclaim): void {
    const { accountId, at } = reclaim
    if (at <= (this.#answeredReclaims.get(accountId) ?? 0n)) return
    this.#answeredReclaims.delete(accountId)
    this.#answeredReclaims.set(accountId, at)
    this.#evictOlderThan(at - BigInt(windowSeconds + 10) * 1_000_000n)
    this.#answer(reclaim)
  }

  /** Ordered by answer, so the oldest come first. */
  #evictOlderThan(limit: bigint): void {
    for (const [accountId, at] of this.#answeredReclaims) {
      if (at >= limit) return
      this.#answeredReclaims.delete(accountId)
    }
  }
}

import { sql, type Kysely } from 'kysely'
import { telling, type Held } from './held'
import type { Schema } from '../db/schema'

/** That some node is short of an account. */
export interface Recall {
  accountId: string
  /** The node. */
  by: string
  /** When, in microseconds of the database's clock: a recall's name. */
  at: bigint
}

// Longer than the time between two looks, so that none is missed.
const windowSeconds = 10

/**
 * Asks the other nodes to give back what they do not use of an account: at once by notification, and
 * by a mark that those find who hear none (M31).
 */
export async function recall(
  db: Kysely<Schema>,
  { accountId, nodeId }: { accountId: string; nodeId: string },
): Promise<void> {
  await sql`
    with marked as (
      update credit_account set recalled_at = now(), recalled_by = ${nodeId}
      where id = ${accountId}
      returning id, (extract(epoch from recalled_at) * 1000000)::bigint as at
    )
    select pg_notify('tollgate_recall', ${nodeId} || ' ' || id || ' ' || at) from marked
  `.execute(db)
}

/** What other nodes recalled lately. To be asked every two seconds; tells what is held by the way. */
export async function recalledLately(
  db: Kysely<Schema>,
  nodeId: string,
  held: readonly Held[],
): Promise<Recall[]> {
  const { rows } = await sql<Recall>`
    ${telling(held)}
    select id as "accountId", recalled_by as by, (extract(epoch from recalled_at) * 1000000)::bigint as at
    from credit_account
    where recalled_at > now() - make_interval(secs => ${windowSeconds}) and recalled_by <> ${nodeId}
  `.execute(db)
  return rows
}

/** What was recalled, as this node hears of it, once or twice: each recall is answered once. */
export class Recalls {
  readonly #answer: (recall: Recall) => void
  /** Account -> its last recall that was answered. */
  readonly #answered = new Map<string, bigint>()

  constructor(answer: (recall: Recall) => void) {
    this.#answer = answer
  }

  /** A notification came. Its own are none of a node's business. */
  hear(payload: string, nodeId: string): void {
    const [by = '', accountId = '', at = '0'] = payload.split(' ')
    if (by !== nodeId) this.note({ accountId, by, at: BigInt(at) })
  }

  note(recalled: Recall): void {
    const { accountId, at } = recalled
    if (at <= (this.#answered.get(accountId) ?? 0n)) return
    this.#answered.delete(accountId)
    this.#answered.set(accountId, at)
    this.#forgetOlderThan(at - BigInt(windowSeconds + 10) * 1_000_000n)
    this.#answer(recalled)
  }

  /** In the order in which they were answered, so the oldest come first. */
  #forgetOlderThan(limit: bigint): void {
    for (const [accountId, at] of this.#answered) {
      if (at >= limit) return
      this.#answered.delete(accountId)
    }
  }
}

import { sql, type Kysely } from 'kysely'
import type { Evaluate } from './evaluate'
import { findWatchedAccounts } from './watched-alerts'
import type { Schema } from '../platform/db/schema'

interface Options {
  db: Kysely<Schema>
  evaluate: Evaluate
  /** Monotonic milliseconds. */
  nowMs: () => number
  /** The interval between rounds, across all nodes. */
  everyMs: number
  /** The longest that one round may take; the next round begins with the accounts left. */
  budgetMs: number
}

/** The outcome of a round. */
export interface AlertRound {
  accounts: number
  triggered: number
  isComplete: boolean
}

const accountsPerBatch = 100
/** The time after which a node that does not renew its lease counts as dead; it renews every few accounts. */
const leaseSeconds = 10
const leased = sql`leased_until = now() + make_interval(secs => ${leaseSeconds})`

/**
 * Evaluates all accounts with enabled alerts or budgets that notify, on one node at a time: by a lease in a row, as a lock would occupy
 * a connection for as long. Undefined when another node runs a round, or has just finished one. Two at once,
 * after a lease that ran out, would do no harm.
 */
export async function runAlertRound(options: Options): Promise<AlertRound | undefined> {
  const { db, everyMs } = options
  const after = await begin(db, everyMs)
  if (after === undefined) return undefined
  try {
    return await go(options, after)
  } finally {
    await sql`update alert_round set leased_until = now()`.execute(db)
  }
}

async function go({ db, evaluate, nowMs, budgetMs }: Options, from: string): Promise<AlertRound> {
  const endsMs = nowMs() + budgetMs
  let after = from
  const round = { accounts: 0, triggered: 0, isComplete: false }
  while (nowMs() < endsMs) {
    const userIds = await findWatchedAccounts(db, after, accountsPerBatch)
    round.triggered += await evaluate(userIds)
    round.accounts += userIds.length
    round.isComplete = userIds.length < accountsPerBatch
    after = round.isComplete ? '' : (userIds.at(-1) ?? '')
    await sql`update alert_round set cursor = ${after}, ${leased}`.execute(db)
    if (round.isComplete) break
  }
  return round
}

/** Returns the account to continue after, or undefined while no round is due. */
async function begin(db: Kysely<Schema>, everyMs: number): Promise<string | undefined> {
  // Nodes look at different moments: a node that comes a little early should not wait for the next time.
  const seconds = (everyMs / 1000) * 0.8
  const { rows } = await sql<{ cursor: string }>`
    update alert_round set ran_at = now(), ${leased}
    where leased_until < now()
      and (ran_at < now() - make_interval(secs => ${seconds}) or cursor <> '')
    returning cursor`.execute(db)
  return rows[0]?.cursor
}

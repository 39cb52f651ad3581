import { sql, type Kysely } from 'kysely'
import type { Evaluate } from './evaluate'
import { accountsWithAlerts } from './watched'
import { alone } from '../db/advisory-lock'
import type { Schema } from '../db/schema'

interface Options {
  db: Kysely<Schema>
  evaluate: Evaluate
  /** Monotonic milliseconds. */
  nowMs: () => number
  /** How often there is to be a round, on whichever node. */
  everyMs: number
  /** How long one may take; what is left is looked at first the next time. */
  budgetMs: number
}

/** What a round did. */
export interface Round {
  accounts: number
  triggered: number
  isComplete: boolean
}

const accountsAtOnce = 100

/**
 * A round through all accounts with enabled alerts, on one node at a time. Undefined when another node
 * has just made one.
 */
export const goRound = (options: Options): Promise<Round | undefined> =>
  alone(options.db, 'alerts', () => go(options))

async function go({ db, evaluate, nowMs, everyMs, budgetMs }: Options): Promise<Round | undefined> {
  const endsMs = nowMs() + budgetMs
  let after = await begin(db, everyMs)
  if (after === undefined) return undefined
  const round = { accounts: 0, triggered: 0, isComplete: false }
  while (nowMs() < endsMs) {
    const userIds = await accountsWithAlerts(db, after, accountsAtOnce)
    round.triggered += await evaluate(userIds)
    round.accounts += userIds.length
    round.isComplete = userIds.length < accountsAtOnce
    after = round.isComplete ? '' : (userIds.at(-1) ?? '')
    await sql`update alert_round set cursor = ${after}`.execute(db)
    if (round.isComplete) break
  }
  return round
}

/** Where to go on, or undefined while it is not yet time. */
async function begin(db: Kysely<Schema>, everyMs: number): Promise<string | undefined> {
  // Nodes look at different moments: whoever comes a little early is not to wait for the next time.
  const seconds = (everyMs / 1000) * 0.8
  const { rows } = await sql<{ cursor: string }>`
    update alert_round set ran_at = now()
    where ran_at < now() - make_interval(secs => ${seconds}) or cursor <> ''
    returning cursor`.execute(db)
  return rows[0]?.cursor
}

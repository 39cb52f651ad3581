import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { runAlertRound } from '../alerts/alert-round'
import { notifyLowBalances } from '../alerts/balances'
import type { Evaluate } from '../alerts/evaluate'
import type { Schema } from '../platform/db/schema'
import { Periodic } from '../platform/periodic'

const budgetMs = 30_000

interface Dependencies {
  db: Kysely<Schema>
  evaluate: Evaluate
  intervalMs: number
  /** Accounts below this balance are notified; nano-dollars. */
  warningThreshold: () => bigint
  log: Logger
}

/** The evaluation of all alerts, and notifications of low balances, on one node at a time. */
export function createAlertEvaluation(dependencies: Dependencies): Periodic {
  const { db, evaluate, intervalMs, warningThreshold, log } = dependencies
  const job: Periodic = new Periodic({
    intervalMs,
    run: async () => {
      const round = await runAlertRound({
        db,
        evaluate,
        // A shutdown ends a round like its time limit.
        nowMs: () => (job.isStopped ? Infinity : performance.now()),
        everyMs: intervalMs,
        budgetMs,
      })
      if (!round) return
      if (!round.isComplete) {
        log.warn(round, 'alerts of some accounts are evaluated late: the time was up')
      }
      await notifyLowBalances(db, warningThreshold())
    },
    onError: (err) => log.warn({ err }, 'alerts and balances could not be evaluated'),
  })
  return job
}

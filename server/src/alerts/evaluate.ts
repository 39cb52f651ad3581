import type { Kysely } from 'kysely'
import { notifyBudgetPercents } from './budget-percents'
import { judge } from './formulas'
import { notifyOrganizationPercents } from './organization-percents'
import { measure, type MeasuredMoment } from './measures'
import { hasMoved, evaluateStep } from './alert-state'
import { recordStep } from './trigger'
import { findWatchedAlerts, type WatchedAlert } from './watched-alerts'
import type { Schema } from '../platform/db/schema'

interface Options {
  db: Kysely<Schema>
  /** Milliseconds since the epoch. */
  nowMs: () => number
  /** The number of full days for which request logs are kept. */
  logDays: () => number
  /** Called for an account whose alerts or budgets could not be evaluated. */
  onFailure: (userId: string, error: unknown) => void
}

export type Evaluate = ReturnType<typeof createEvaluation>

const dayMs = 86_400_000

/** Evaluates something of some accounts. Resolves with how many notifications it caused. */
type EvaluatePart = (userIds: readonly string[]) => Promise<number>

/**
 * Creates the evaluation of some accounts' enabled alerts and budgets, which resolves with how many triggered. Any
 * number of processes may evaluate one alert at once: it triggers once. Never rejects for one account: the others are
 * evaluated all the same.
 */
export function createEvaluation(options: Options) {
  const { db, nowMs, onFailure } = options
  const evaluateBudgets: EvaluatePart = (userIds) => notifyBudgetPercents(db, userIds, nowMs())
  const evaluateShared: EvaluatePart = (userIds) => notifyOrganizationPercents(db, userIds, nowMs())
  const parts = [createAlertPart(options), evaluateBudgets, evaluateShared]
  return async (userIds: readonly string[]): Promise<number> => {
    let triggered = 0
    for (const part of parts) triggered += await evaluateEach(part, userIds, onFailure)
    return triggered
  }
}

/** Evaluates all accounts at once, and each alone where that fails. */
async function evaluateEach(
  part: EvaluatePart,
  userIds: readonly string[],
  onFailure: Options['onFailure'],
): Promise<number> {
  if (userIds.length === 0) return 0
  try {
    return await part(userIds)
  } catch (error) {
    const [only, ...others] = userIds
    if (only !== undefined && others.length === 0) {
      onFailure(only, error)
      return 0
    }
  }
  // An account with more than one statement can read in its time does not hold up the others.
  let triggered = 0
  for (const userId of userIds) {
    triggered += await part([userId]).catch((error: unknown) => {
      onFailure(userId, error)
      return 0
    })
  }
  return triggered
}

const createAlertPart =
  ({ db, nowMs, logDays }: Options): EvaluatePart =>
  async (userIds) => {
    const moment: MeasuredMoment = {
      nowMs: nowMs(),
      logsSinceMs: nowMs() - (logDays() - 1) * dayMs,
    }
    const alerts = await findWatchedAlerts(db, userIds)
    const measures = await measure(db, alerts, moment)
    let triggered = 0
    for (const [index, alert] of alerts.entries()) {
      const measured = measures[index]
      if (measured && (await evaluateAlert(db, alert, { measured, nowMs: moment.nowMs })))
        triggered++
    }
    return triggered
  }

interface Evaluation {
  measured: Parameters<typeof judge>[1]
  nowMs: number
}

async function evaluateAlert(
  db: Kysely<Schema>,
  alert: WatchedAlert,
  { measured, nowMs }: Evaluation,
) {
  const { value, isTrue } = judge(alert, measured)
  const step = evaluateStep(alert.standing, { isTrue, nowMs, period: alert.period })
  if (!hasMoved(alert.standing, step)) return false
  return recordStep(db, alert, { ...step, nowMs, value })
}

import { windowMs, type AlertPeriod } from './alert'

/** The state of an alert between two evaluations. Times are milliseconds since the epoch. */
export interface AlertState {
  /** Its condition has counted as false: the next true triggers at once. */
  armed: boolean
  /** The moment since which it has been false, while that is too short to count; null otherwise. */
  falseSinceMs: number | null
  lastTriggeredMs: number | null
}

export interface Step {
  standing: AlertState
  triggers: boolean
}

const minSettlingMs = 300_000

/** Returns how long a condition must be false to count so: a value that wavers is no new event. */
export const settlingMs = (period: AlertPeriod): number =>
  Math.max(windowMs[period] / 24, minSettlingMs)

/** The initial state of an alert, restored by a change of its condition. */
export const fresh = { armed: true, falseSinceMs: null } as const

/**
 * Computes the outcome of an evaluation. An alert triggers when its condition turns true, and again each time
 * that a whole window has passed since. Source: contract 6.2.
 */
export function evaluateStep(
  standing: AlertState,
  look: { isTrue: boolean; nowMs: number; period: AlertPeriod },
): Step {
  const { isTrue, nowMs, period } = look
  const { armed, falseSinceMs, lastTriggeredMs } = standing
  const isSettled = falseSinceMs !== null && nowMs - falseSinceMs >= settlingMs(period)
  if (!isTrue) {
    const next = armed || isSettled ? fresh : { armed, falseSinceMs: falseSinceMs ?? nowMs }
    return { standing: { ...next, lastTriggeredMs }, triggers: false }
  }
  const isDueAgain = lastTriggeredMs === null || nowMs - lastTriggeredMs >= windowMs[period]
  const triggers = armed || isSettled || isDueAgain
  return {
    standing: {
      armed: false,
      falseSinceMs: null,
      lastTriggeredMs: triggers ? nowMs : lastTriggeredMs,
    },
    triggers,
  }
}

/** Returns whether the state must be written. */
export const hasMoved = (from: AlertState, { standing: to, triggers }: Step): boolean =>
  triggers || from.armed !== to.armed || from.falseSinceMs !== to.falseSinceMs

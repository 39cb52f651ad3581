import { windowMs, type Period } from './alert'

/** Where an alert stands between two looks at it. Times are milliseconds since the epoch. */
export interface Standing {
  /** Its condition counts as false until now: the next true triggers at once. */
  armed: boolean
  /** Since when it has been false while that is too short to count; null otherwise. */
  falseSinceMs: number | null
  lastTriggeredMs: number | null
}

export interface Step {
  standing: Standing
  triggers: boolean
}

const leastSettlingMs = 300_000

/** How long a condition must be false to count so: a value that wavers is no new event. */
export const settlingMs = (period: Period): number =>
  Math.max(windowMs[period] / 24, leastSettlingMs)

/** The start of an alert, and what changing its condition leads back to. */
export const fresh = { armed: true, falseSinceMs: null } as const

/**
 * What a look at an alert comes to. It triggers when its condition turns true, and again each time that
 * a whole window has passed since. Source: contract 6.2.
 */
export function step(
  standing: Standing,
  look: { isTrue: boolean; nowMs: number; period: Period },
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

/** Whether there is anything to be written down. */
export const hasMoved = (from: Standing, { standing: to, triggers }: Step): boolean =>
  triggers || from.armed !== to.armed || from.falseSinceMs !== to.falseSinceMs

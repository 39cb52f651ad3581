import { clockOf, findChange, type LocalClock } from './local-clock'

/** The lengths of windows in which a limit counts; a total never ends. Source: contract 6.14. */
export const windowUnits = ['hour', 'day', 'week', 'month', 'quarter', 'year', 'total'] as const
export type WindowUnit = (typeof windowUnits)[number]

/** A calendar by which a limit counts. */
export interface WindowRule {
  unit: WindowUnit
  /** A name of the IANA database. */
  timeZone: string
  /** The day with which weeks begin: 1 for Monday, 7 for Sunday. */
  firstWeekday: number
}

/** The first moment of a window, and the first one after it; infinite for a total. */
export interface Window {
  fromMs: number
  toMs: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The calendar month in UTC, by which limits count that are no budgets. */
export const monthInUtc: WindowRule = { unit: 'month', timeZone: 'UTC', firstWeekday: 1 }

/** Returns a text that is the same for rules with the same windows. */
export const toRuleKey = ({ unit, timeZone, firstWeekday }: WindowRule): string => {
  if (unit === 'total') return unit
  return unit === 'week' ? `${unit} ${timeZone} ${firstWeekday}` : `${unit} ${timeZone}`
}

/**
 * Finds the window of a moment. The windows of a rule follow each other without gap or overlap, also where clocks
 * change. A day begins with the first moment of its date, and a change by whole hours leaves each hour 60 minutes long.
 */
export function findWindow(rule: WindowRule, atMs: number): Window {
  if (rule.unit === 'total') return { fromMs: 0, toMs: Infinity }
  const clock = clockOf(rule.timeZone)
  if (rule.unit === 'hour') return findHour(clock, atMs)
  let first = findFirstDay(rule, atMs + clock.offsetAt(atMs))
  for (;;) {
    const next = findNextDay(rule, first)
    const window = { fromMs: findStart(clock, first), toMs: findStart(clock, next) }
    // A clock that is set back over midnight shows the earlier date again, in the window that has begun.
    if (atMs < window.toMs) return window
    first = next
  }
}

/** Returns the first date of the window of a local time. Dates are midnights as if they were in UTC. */
function findFirstDay({ unit, firstWeekday }: WindowRule, localMs: number): number {
  const date = new Date(localMs)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  if (unit === 'month') return Date.UTC(year, month)
  if (unit === 'quarter') return Date.UTC(year, month - (month % 3))
  if (unit === 'year') return Date.UTC(year, 0)
  const today = Date.UTC(year, month, date.getUTCDate())
  return unit === 'week' ? today - ((date.getUTCDay() + 7 - firstWeekday) % 7) * dayMs : today
}

const monthsIn = { month: 1, quarter: 3, year: 12 }

/** Returns the first date of the window after the one that begins with a date. */
function findNextDay({ unit }: WindowRule, firstDay: number): number {
  if (unit === 'month' || unit === 'quarter' || unit === 'year') {
    const date = new Date(firstDay)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsIn[unit])
  }
  return firstDay + (unit === 'week' ? 7 : 1) * dayMs
}

/** Finds the first moment at which a clock shows a local time or a later one. */
function findStart(clock: LocalClock, localMs: number): number {
  // No zone is further from UTC than 14 hours.
  const [beforeMs, afterMs] = [localMs - dayMs, localMs + dayMs]
  const [earlier, later] = [clock.offsetAt(beforeMs), clock.offsetAt(afterMs)]
  if (earlier === later) return localMs - earlier
  const changeMs = findChange(clock, beforeMs, afterMs)
  if (localMs - earlier < changeMs) return localMs - earlier
  // The clock may skip it.
  return Math.max(changeMs, localMs - later)
}

/**
 * Finds the hour of the clock at a moment. Where clocks change by half an hour, the hour in which they do is cut there.
 */
function findHour(clock: LocalClock, atMs: number): Window {
  const offset = clock.offsetAt(atMs)
  const fromMs = Math.floor((atMs + offset) / hourMs) * hourMs - offset
  const toMs = fromMs + hourMs
  const isMoved = (otherMs: number) => (clock.offsetAt(otherMs) - offset) % hourMs !== 0
  return {
    fromMs: isMoved(fromMs) ? findChange(clock, fromMs, atMs) : fromMs,
    toMs: isMoved(toMs) ? findChange(clock, atMs, toMs) : toMs,
  }
}

import { invalidRequest } from '../../../errors'

const dayMs = 86_400_000
const usualDays = 30
const mostDays = 366

/** A range as the query gives it: ISO 8601 times with zone, or dates. */
export interface DayRangeQuery {
  start_date?: string | undefined
  end_date?: string | undefined
}

const isDate = (text: string) => text.length === 10
const midnightMs = (timeMs: number) => Math.floor(timeMs / dayMs) * dayMs

/** Formats a day as its date in UTC. */
const toDay = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10)

/**
 * Lists the days that a range touches, newest first, without future ones; 30 of them without a start. Throws
 * `out_of_range` at `start_date` for one after the end, or too long before it.
 */
export function listDays(
  { start_date: start, end_date: end }: DayRangeQuery,
  nowMs: number,
): string[] {
  // A date includes its whole day.
  const endMs = end === undefined ? nowMs + 1 : Date.parse(end) + (isDate(end) ? dayMs : 0)
  const lastMs = midnightMs(endMs - 1)
  const startMs = start === undefined ? lastMs - (usualDays - 1) * dayMs : Date.parse(start)
  // An end date is exclusive at the start of the next day.
  const isAfter = end !== undefined && isDate(end) ? startMs >= endMs : startMs > endMs
  if (isAfter) throw outOfRange('is after end_date.')
  if (endMs - startMs > mostDays * dayMs) {
    throw outOfRange(`is more than ${mostDays} days before the end.`)
  }
  const days: string[] = []
  const todayMs = midnightMs(nowMs)
  const firstMs = midnightMs(startMs)
  for (let dayStartMs = lastMs; dayStartMs >= firstMs; dayStartMs -= dayMs) {
    if (dayStartMs <= todayMs && startMs < endMs) days.push(toDay(dayStartMs))
  }
  return days
}

const outOfRange = (words: string) =>
  invalidRequest('start_date', 'out_of_range', `start_date: ${words}`)

import { invalidRequest } from '../../../errors'
import { isFullDay, type TimeSpanQuery } from '../../../http/span'

const dayMs = 86_400_000
const usualDays = 30
const maxDays = 366

const midnightMs = (timeMs: number) => Math.floor(timeMs / dayMs) * dayMs

/** Formats a day as its date in UTC. */
const toDay = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10)

/**
 * Lists the days that a range touches, newest first, without future ones; 30 of them without a start. Throws
 * `out_of_range` at `start_date` for one after the end, or too long before it.
 */
export function listDays(
  { start_date: start, end_date: end }: TimeSpanQuery,
  nowMs: number,
): string[] {
  // A date includes its whole day.
  const endMs = end === undefined ? nowMs + 1 : Date.parse(end) + (isFullDay(end) ? dayMs : 0)
  const lastMs = midnightMs(endMs - 1)
  const startMs = start === undefined ? lastMs - (usualDays - 1) * dayMs : Date.parse(start)
  // An end date is exclusive at the start of the next day.
  const isAfter = end !== undefined && isFullDay(end) ? startMs >= endMs : startMs > endMs
  if (isAfter) throw outOfRange('is after end_date.')
  if (endMs - startMs > maxDays * dayMs) {
    throw outOfRange(`is more than ${maxDays} days before the end.`)
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

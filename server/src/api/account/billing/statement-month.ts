import type { Kysely } from 'kysely'
import { readIntervals, type Intervals } from './intervals'
import { invalidRequest } from '../../../errors'
import type { Schema } from '../../../platform/db/schema'
import { clockOf, findTimeZone } from '../../../platform/local-clock'

const dayMs = 86_400_000

/** Returns the calendar month of a moment in a time zone; in UTC for an unknown one. */
export function monthAt(zone: string, atMs: number): string {
  const name = findTimeZone(zone)
  const offsetMs = name === undefined ? 0 : clockOf(name).offsetAt(atMs)
  return new Date(atMs + offsetMs).toISOString().slice(0, 7)
}

interface MonthIn {
  /** Such as `2026-11`. */
  month: string
  time_zone: string
}

/**
 * Lists the days of a month as the breakdown does. Rejects with `invalid_request` for a month to come, and for a time
 * zone that the sums do not have.
 */
export async function readMonth(
  db: Kysely<Schema>,
  { month, time_zone }: MonthIn,
  nowMs: number,
): Promise<Intervals> {
  const dates = listDates(month)
  const [start_date, end_date] = [dates[0] ?? month, dates.at(-1) ?? month]
  const span = { start_date, end_date, time_zone, granularity: 'day' } as const
  const intervals = await readIntervals(db, span, nowMs)
  if ((intervals.starts[0]?.getTime() ?? 0) > nowMs) {
    throw invalidRequest('month', 'out_of_range', 'month: must not be in the future.')
  }
  return intervals
}

/** Lists the dates of a month. */
export function listDates(month: string): string[] {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const days = new Date(Date.UTC(year, number, 0)).getUTCDate()
  return Array.from({ length: days }, (_, index) =>
    new Date(Date.parse(`${month}-01`) + index * dayMs).toISOString().slice(0, 10),
  )
}

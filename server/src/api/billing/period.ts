import type { granularities, MetricsFilter } from './schema'
import { invalidRequest } from '../../errors'
import { spanOf } from '../../http/span'

const hourMs = 3_600_000
export const dayMs = 24 * hourMs
const weekMs = 7 * dayMs

const mostDays = 366
const mostDaysByHour = 31
/** For how long there are sums by hour. */
const hourSumDays = 89

export type Granularity = (typeof granularities)[number]

/** What metrics are about. */
export interface Period {
  start: Date
  end: Date
  granularity: Granularity
  /** Which sums have it. */
  grain: 'hour' | 'day'
}

const periods = { '24h': dayMs, '7d': weekMs, '30d': 30 * dayMs }

/** Throws `invalid_request`. Source: contract 6.7. */
export function periodOf(filter: MetricsFilter, nowMs: number): Period {
  const span = wantedSpan(filter, nowMs)
  const granularity = filter.granularity ?? (filter.period === '24h' ? 'hour' : 'day')
  const isByHour = granularity === 'hour'
  if (isByHour && span.endMs - span.startMs > mostDaysByHour * dayMs) {
    throw tooFine(`at most ${mostDaysByHour} days can be told by hour.`)
  }
  const isRecent = span.startMs >= nowMs - hourSumDays * dayMs
  if (isByHour && !isRecent) {
    throw tooFine(`by hour is kept for ${hourSumDays} days.`)
  }
  const [grain, unitMs] = isRecent ? (['hour', hourMs] as const) : (['day', dayMs] as const)
  // What is summed by the hour begins with one.
  const start = new Date(Math.floor(span.startMs / unitMs) * unitMs)
  return { start, end: new Date(span.endMs), granularity, grain }
}

const tooFine = (words: string) =>
  invalidRequest('granularity', 'out_of_range', `granularity: ${words}`)

function wantedSpan(filter: MetricsFilter, nowMs: number): { startMs: number; endMs: number } {
  const { start, end } = spanOf(filter)
  if (!start && !end) {
    return { startMs: nowMs - periods[filter.period ?? '30d'], endMs: nowMs }
  }
  if (filter.period) {
    throw invalidRequest('period', 'conflict', 'period: does not go with start_date and end_date.')
  }
  if (!start) throw invalidRequest('start_date', 'required', 'start_date: goes with end_date.')
  if (!end) throw invalidRequest('end_date', 'required', 'end_date: goes with start_date.')
  const [startMs, endMs] = [start.getTime(), end.getTime()]
  if (endMs - startMs > mostDays * dayMs) {
    throw invalidRequest('end_date', 'out_of_range', `end_date: at most ${mostDays} days.`)
  }
  return { startMs, endMs }
}

/** Of buckets that are all of one length: how long, and where the first one begins. */
const lengths = {
  hour: { length: hourMs, shift: 0 },
  day: { length: dayMs, shift: 0 },
  // The epoch was a Thursday.
  week: { length: weekMs, shift: 4 * dayMs },
}

/** Where the bucket of a moment begins, in UTC; weeks begin on Mondays. */
export function bucketOf(ms: number, granularity: Granularity): number {
  if (granularity === 'month') {
    const date = new Date(ms)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  }
  const { length, shift } = lengths[granularity]
  return Math.floor((ms - shift) / length) * length + shift
}

/** All buckets of a period, empty ones too. */
export function bucketsOf({ start, end, granularity }: Period): number[] {
  const buckets: number[] = []
  for (let at = bucketOf(start.getTime(), granularity); at < end.getTime();) {
    buckets.push(at)
    at = nextOf(at, granularity)
  }
  return buckets
}

function nextOf(ms: number, granularity: Granularity): number {
  if (granularity === 'month') {
    const date = new Date(ms)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  }
  return ms + lengths[granularity].length
}

import type { granularities, MetricsFilter } from './schema'
import { invalidRequest } from '../../../errors'
import { toTimeSpan } from '../../../http/span'

const hourMs = 3_600_000
export const dayMs = 24 * hourMs
const weekMs = 7 * dayMs

export const maxDays = 366
export const maxDaysByHour = 31
/** Hourly sums are kept for this many days. */
export const hourSumDays = 89

export type Granularity = (typeof granularities)[number]

/** The period of metrics. */
export interface MetricsPeriod {
  start: Date
  end: Date
  granularity: Granularity
  /** The sums that cover the period. */
  grain: 'hour' | 'day'
}

const periods = { '24h': dayMs, '7d': weekMs, '30d': 30 * dayMs }

/** Throws `invalid_request`. Source: contract 6.7. */
export function toMetricsPeriod(filter: MetricsFilter, nowMs: number): MetricsPeriod {
  const span = requestedSpan(filter, nowMs)
  const granularity = filter.granularity ?? (filter.period === '24h' ? 'hour' : 'day')
  const isByHour = granularity === 'hour'
  if (isByHour && span.endMs - span.startMs > maxDaysByHour * dayMs) {
    throw granularityTooFine(`at most ${maxDaysByHour} days can be shown by hour.`)
  }
  const isRecent = span.startMs >= nowMs - hourSumDays * dayMs
  if (isByHour && !isRecent) {
    throw granularityTooFine(`hourly values are stored for ${hourSumDays} days.`)
  }
  const [grain, unitMs] = isRecent ? (['hour', hourMs] as const) : (['day', dayMs] as const)
  // Hourly sums begin at full hours.
  const start = new Date(Math.floor(span.startMs / unitMs) * unitMs)
  return { start, end: new Date(span.endMs), granularity, grain }
}

const granularityTooFine = (reason: string) =>
  invalidRequest('granularity', 'out_of_range', `granularity: ${reason}`)

function requestedSpan(filter: MetricsFilter, nowMs: number): { startMs: number; endMs: number } {
  const { start, end } = toTimeSpan(filter)
  if (!start && !end) {
    return { startMs: nowMs - periods[filter.period ?? '30d'], endMs: nowMs }
  }
  if (filter.period) {
    throw invalidRequest(
      'period',
      'conflict',
      'period: cannot be combined with start_date and end_date.',
    )
  }
  if (!start) throw invalidRequest('start_date', 'required', 'start_date: requires end_date.')
  if (!end) throw invalidRequest('end_date', 'required', 'end_date: requires start_date.')
  const [startMs, endMs] = [start.getTime(), end.getTime()]
  if (endMs - startMs > maxDays * dayMs) {
    throw invalidRequest('end_date', 'out_of_range', `end_date: at most ${maxDays} days.`)
  }
  return { startMs, endMs }
}

/** Buckets of a fixed length: their length, and the start of the first one. */
const lengths = {
  hour: { length: hourMs, shift: 0 },
  day: { length: dayMs, shift: 0 },
  // The epoch was a Thursday.
  week: { length: weekMs, shift: 4 * dayMs },
}

/** Returns the start of a moment's bucket, in UTC; weeks begin on Mondays. */
export function toBucketStart(ms: number, granularity: Granularity): number {
  if (granularity === 'month') {
    const date = new Date(ms)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  }
  const { length, shift } = lengths[granularity]
  return Math.floor((ms - shift) / length) * length + shift
}

/** Lists all buckets of a period, empty ones too. */
export function listBuckets({ start, end, granularity }: MetricsPeriod): number[] {
  const buckets: number[] = []
  for (let at = toBucketStart(start.getTime(), granularity); at < end.getTime();) {
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

import type { Period } from '../url/period'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The bars of a chart of each period, and their length. */
const bars = {
  '24h': { count: 24, length: hourMs, granularity: 'hour' },
  '7d': { count: 7, length: dayMs, granularity: 'day' },
  '30d': { count: 30, length: dayMs, granularity: 'day' },
} as const satisfies Record<Period, object>

/** A period as query parameters of figures. */
interface TimeWindow {
  start_date: string
  end_date: string
  granularity: 'hour' | 'day'
}

/**
 * Returns the window of a period that ends now, for all figures of a page: whole hours, or days in UTC, the current one
 * included, so that sums and charts count the same requests.
 */
export function toTimeWindow(period: Period, nowMs: number): TimeWindow {
  const { count, length, granularity } = bars[period]
  const current = Math.floor(nowMs / length) * length
  return {
    start_date: new Date(current - (count - 1) * length).toISOString(),
    end_date: new Date(nowMs).toISOString(),
    granularity,
  }
}

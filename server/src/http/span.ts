import { z } from 'zod'
import { invalidRequest } from '../errors'

const dayMs = 86_400_000

/** A time with zone, or a whole day in UTC. */
export const moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

/** Descriptions of the query parameters `start_date` and `end_date`. */
export const startText = 'Start of the time span, inclusive: a time with zone, or a day in UTC'
export const endText =
  'End of the time span, exclusive: a time with zone, or a day in UTC, which is included'

/** A time span: inclusive of `start`, exclusive of `end`. */
export interface TimeSpan {
  start: Date | undefined
  end: Date | undefined
}

/** A time span as the query gives it: ISO 8601 times with zone, or dates. */
export interface TimeSpanQuery {
  start_date?: string | undefined
  end_date?: string | undefined
}

/** Whether a moment is a date, which stands for its whole day. */
export const isFullDay = (text: string) => text.length === 10

/** An end date includes its whole day. */
const toEnd = (text: string) => new Date(Date.parse(text) + (isFullDay(text) ? dayMs : 0))

/** Reads a time span. Throws `invalid_request` for one that ends before it starts. Source: contract 1.5. */
export function toTimeSpan({ start_date: from, end_date: to }: TimeSpanQuery): TimeSpan {
  const start = from === undefined ? undefined : new Date(from)
  const end = to === undefined ? undefined : toEnd(to)
  if (start && end && start > end) {
    throw invalidRequest('start_date', 'out_of_range', 'start_date: must not be after end_date.')
  }
  return { start, end }
}

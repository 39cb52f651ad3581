import { z } from 'zod'
import { invalidRequest } from '../errors'

const dayMs = 86_400_000

/** A time with zone, or a whole day in UTC. */
export const moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

/** A time span: inclusive of `start`, exclusive of `end`. */
export interface TimeSpan {
  start: Date | undefined
  end: Date | undefined
}

interface Asked {
  start_date?: string | undefined
  end_date?: string | undefined
}

const isWholeDay = (text: string) => text.length === 10

/** An end date includes its whole day. */
const toEnd = (text: string) => new Date(Date.parse(text) + (isWholeDay(text) ? dayMs : 0))

/** Reads a time span. Throws `invalid_request` for one that ends before it starts. Source: contract 1.5. */
export function toTimeSpan({ start_date: from, end_date: to }: Asked): TimeSpan {
  const start = from === undefined ? undefined : new Date(from)
  const end = to === undefined ? undefined : toEnd(to)
  if (start && end && start > end) {
    throw invalidRequest('start_date', 'out_of_range', 'start_date: is after end_date.')
  }
  return { start, end }
}

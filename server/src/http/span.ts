import { z } from 'zod'
import { invalidRequest } from '../errors'

const dayMs = 86_400_000

/** A time with zone, or a whole day in UTC. */
export const moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

/** From `start` on, and before `end`. */
export interface Span {
  start: Date | undefined
  end: Date | undefined
}

interface Asked {
  start_date?: string | undefined
  end_date?: string | undefined
}

const isWholeDay = (text: string) => text.length === 10

/** A day that ends something counts to its end. */
const toEnd = (text: string) => new Date(Date.parse(text) + (isWholeDay(text) ? dayMs : 0))

/** Throws `invalid_request` for what ends before it starts. Source: contract 1.5. */
export function spanOf({ start_date: from, end_date: to }: Asked): Span {
  const start = from === undefined ? undefined : new Date(from)
  const end = to === undefined ? undefined : toEnd(to)
  if (start && end && start > end) {
    throw invalidRequest('start_date', 'out_of_range', 'start_date: is after end_date.')
  }
  return { start, end }
}

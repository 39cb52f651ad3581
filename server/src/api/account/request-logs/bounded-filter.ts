import type { RequestLogFilter } from './schema'

const dayMs = 86_400_000

/** Returns the later beginning of a period, `other` where a filter has none. */
export const laterOf = (one: Date | undefined, other: Date): Date =>
  one && one > other ? one : other

/** Returns the earlier end of a period, `other` where a filter has none. */
export const earlierOf = (one: Date | undefined, other: Date): Date =>
  one && one < other ? one : other

/**
 * Bounds the period of a filter that searches, so that partitions of other days are not read: a part of an id contains
 * the time, and errors are searched in `defaultDays` before the end where the client names no start.
 */
export function toBoundedFilter(filter: RequestLogFilter, defaultDays = 7): RequestLogFilter {
  const { search, start_date: start, end_date: end } = filter
  if (!search) return filter
  if ('firstId' in search) {
    const { from, to } = search
    return { ...filter, start_date: laterOf(start, from), end_date: earlierOf(end, to) }
  }
  const last = end?.getTime() ?? Date.now()
  return { ...filter, start_date: start ?? new Date(last - defaultDays * dayMs) }
}

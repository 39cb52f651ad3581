import { sql, type Kysely } from 'kysely'
import type { BreakdownFilter } from './breakdown-schema'
import { dayMs, hourSumDays, maxDays, maxDaysByHour, type Granularity } from './period'
import { invalidRequest } from '../../../errors'
import type { Schema } from '../../../platform/db/schema'

const hourMs = 3_600_000
const quarterMs = 900_000

/** The intervals of a period in a time zone. */
export interface Intervals {
  /** Ascending; the first is the start of the period. */
  starts: Date[]
  /** Exclusive. */
  end: Date
  /** The sums that have all their borders. */
  grain: 'hour' | 'day'
  /**
   * The quarters of an hour between each border within an hour and the end of that hour: of a time zone that is not whole
   * hours from UTC.
   */
  quarters: Date[]
}

type Span = Pick<BreakdownFilter, 'start_date' | 'end_date' | 'time_zone' | 'granularity'>

/** Which days begin an interval. */
const firstDays: Readonly<Record<Exclude<Granularity, 'hour'>, ReturnType<typeof sql>>> = {
  day: sql`true`,
  week: sql`extract(isodow from day) = 1`,
  month: sql`extract(day from day) = 1`,
}

/**
 * Lists the intervals of a period: one for the whole period without a granularity. Days, weeks from Monday and months
 * begin at midnight in the time zone, as the database's time zones have it. Rejects with `invalid_request` for a period
 * whose borders the sums do not have.
 */
export async function readIntervals(
  db: Kysely<Schema>,
  span: Span,
  nowMs: number,
): Promise<Intervals> {
  checkSpan(span)
  const { start_date: from, end_date: to, time_zone: zone, granularity } = span
  const isFirst =
    granularity === undefined || granularity === 'hour' ? sql`false` : firstDays[granularity]
  const { rows } = await sql<{ at: Date; is_end: boolean }>`
    select day at time zone ${zone} as at, day = ${to}::date + interval '1 day' as is_end
    from generate_series(${from}::timestamp, ${to}::timestamp + interval '1 day', '1 day') as day
    where day = ${from}::date or day = ${to}::date + interval '1 day' or ${isFirst}
    order by day`
    .execute(db)
    .catch((error: unknown) => {
      throw isUnknownZone(error) ? unknownZone() : error
    })
  const end = rows.at(-1)?.at
  const days = rows.filter(({ is_end: isEnd }) => !isEnd).map(({ at }) => at)
  const [start] = days
  if (!start || !end) throw new Error('A period has no days.')
  const starts = granularity === 'hour' ? hoursOf(start, end) : days
  const borders = [...starts, end]
  const grain = grainOf(borders, span, nowMs)
  return { starts, end, grain, quarters: borders.flatMap(quartersAfter) }
}

function checkSpan({ start_date: from, end_date: to, time_zone: zone, granularity }: Span): void {
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1
  const maxSpanDays = granularity === 'hour' ? maxDaysByHour : maxDays
  if (days < 1) {
    throw invalidRequest('start_date', 'out_of_range', 'start_date: must not be after end_date.')
  }
  if (days > maxSpanDays) {
    throw invalidRequest('end_date', 'out_of_range', `end_date: at most ${maxSpanDays} days.`)
  }
  if (!isTimeZone(zone)) throw unknownZone()
}

const unknownZone = () =>
  invalidRequest(
    'time_zone',
    'bad_format',
    'time_zone: must be an IANA time zone, such as Europe/Berlin.',
  )

/** Whether the database does not know a zone that this process knows: `invalid_parameter_value`. */
const isUnknownZone = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '22023'

/** Names only: the database reads an offset such as `+02` with the opposite sign. */
function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][\w+-]*(\/[\w+-]+)*$/.test(zone)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Lists the quarters from a border to the end of its hour; none from a full hour. */
function quartersAfter(border: Date): Date[] {
  const endMs = Math.ceil(border.getTime() / hourMs) * hourMs
  const quarters: Date[] = []
  for (let ms = border.getTime(); ms < endMs; ms += quarterMs) quarters.push(new Date(ms))
  return quarters
}

const hoursOf = (start: Date, end: Date): Date[] =>
  Array.from(
    { length: Math.ceil((end.getTime() - start.getTime()) / hourMs) },
    (_, hour) => new Date(start.getTime() + hour * hourMs),
  )

function grainOf(borders: readonly Date[], span: Span, nowMs: number): Intervals['grain'] {
  const isAligned = (unitMs: number) => borders.every((border) => border.getTime() % unitMs === 0)
  if (!isAligned(quarterMs)) {
    const message = `time_zone: ${span.time_zone} is not whole quarters of an hour from UTC.`
    throw invalidRequest('time_zone', 'not_allowed', message)
  }
  const start = borders[0]?.getTime() ?? 0
  if (start >= nowMs - hourSumDays * dayMs) return 'hour'
  if (isAligned(dayMs)) return 'day'
  const [field, value] =
    span.granularity === 'hour'
      ? (['granularity', 'hour'] as const)
      : (['time_zone', span.time_zone] as const)
  const message = `${field}: ${value} requires a period that begins in the last ${hourSumDays} days; older usage is kept by day in UTC.`
  throw invalidRequest(field, 'out_of_range', message)
}

import { sql, type Kysely } from 'kysely'
import { dimensions, filterRows, havingOf, type BreakdownSource } from './breakdown-rows'
import type { BreakdownFilter } from './breakdown-schema'
import { readIntervals, type Intervals } from './intervals'
import { dayMs } from './period'
import { splitHours } from './quarter-hours'
import { added, zeroSums, type UsageSums } from './sum-source'
import { invalidRequest } from '../../../errors'
import type { Schema } from '../../../platform/db/schema'

/** The usage of the days before, for the groups that are shown. */
export interface PreviousUsage {
  start: Date
  end: Date
  total: UsageSums
  /** By the place of the group, from 0; zeros for one without usage. */
  groups: UsageSums[]
  /** Of all other groups. */
  other: UsageSums
}

interface ShownGroup {
  first: string
  second: string | null
}

interface Comparing {
  filter: BreakdownFilter
  nowMs: number
  shownGroups: readonly ShownGroup[]
}

const toDate = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Returns the days before a period: as many as it has. Throws `invalid_request` where they begin before 1970. */
export function toPreviousDays({
  start_date: from,
  end_date: to,
}: Pick<BreakdownFilter, 'start_date' | 'end_date'>) {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  if (2 * fromMs < toMs + dayMs) {
    const message = 'compare: the days before would begin before 1970.'
    throw invalidRequest('compare', 'out_of_range', message)
  }
  return { start_date: toDate(2 * fromMs - toMs - dayMs), end_date: toDate(fromMs - dayMs) }
}

/**
 * Reads the usage of the days before a period: of the groups that it shows, and of all others. Rejects with
 * `invalid_request` where the sums do not have the borders of those days. Source: contract 6.7.
 */
export async function readPrevious(
  db: Kysely<Schema>,
  source: BreakdownSource,
  { filter, nowMs, shownGroups }: Comparing,
): Promise<PreviousUsage> {
  const span = { ...toPreviousDays(filter), time_zone: filter.time_zone, granularity: undefined }
  const intervals = await readIntervals(db, span, nowMs)
  const rows = await readRows(db, source, { filter, intervals, shownGroups })
  const sumsAt = (place: number) => rows.find((row) => row.place === place) ?? zeroSums
  return {
    start: intervals.starts[0] ?? intervals.end,
    end: intervals.end,
    total: rows.reduce<UsageSums>(added, zeroSums),
    groups: shownGroups.map((_, index) => sumsAt(index + 1)),
    other: sumsAt(0),
  }
}

/** Sums by the place of the shown group, 0 for all others. */
async function readRows(
  db: Kysely<Schema>,
  source: BreakdownSource,
  {
    filter,
    intervals,
    shownGroups,
  }: { filter: BreakdownFilter; intervals: Intervals } & Pick<Comparing, 'shownGroups'>,
): Promise<(UsageSums & { place: number })[]> {
  const first = dimensions[filter.group_by]
  const second = filter.split_by ? dimensions[filter.split_by] : sql`null::text`
  const { rows } = await sql<UsageSums & { place: number }>`
    with counted as (
      select ${first} as first, ${second} as second, ${source.sums}
      from ${splitHours(source.table, source.columns, intervals)}
      where ${filterRows(source, { filter, intervals })}
      group by 1, 2 ${havingOf(source, intervals)}
    )
    select coalesce(shown.place, 0)::integer as place,
      sum(requests)::bigint as requests, sum(successes)::bigint as successes,
      sum(failures)::bigint as failures, sum(input)::bigint as input,
      sum(output)::bigint as output, sum(duration)::bigint as duration,
      sum(timed)::bigint as timed, sum(cost)::bigint as cost,
      sum(usage_cost)::bigint as usage_cost, sum(revenue)::bigint as revenue,
      sum(provider_cost)::bigint as provider_cost, sum(uncosted)::bigint as uncosted
    from counted left join unnest(
      ${shownGroups.map((one) => one.first)}::text[], ${shownGroups.map((one) => one.second)}::text[]
    ) with ordinality as shown (first, second, place)
      on shown.first = counted.first and shown.second is not distinct from counted.second
    group by 1`.execute(db)
  return rows
}

/** Returns the change of a figure in percent, with two decimals; null where there was none before. */
export const toChange = (now: bigint, before: bigint): number | null =>
  before === 0n ? null : Math.round((Number(now - before) / Number(before)) * 10_000) / 100

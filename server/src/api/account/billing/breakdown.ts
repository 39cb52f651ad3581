import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Breakdown, BreakdownFilter, Dimension } from './breakdown-schema'
import { readIntervals, type Intervals } from './intervals'
import { added, zeroSums, type UsageSource, type UsageSums } from './sum-source'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import type { Schema } from '../../../platform/db/schema'
import { toUsd } from '../../../wire/usd'

/** The most sums that one answer can have. */
const maxSums = 20_000

/** SQL of what rows of sums are grouped by; the provider is the part of a model before the slash. */
const dimensions: Readonly<Record<Dimension, RawBuilder<unknown>>> = {
  model: sql`model`,
  provider: sql`case when position('/' in model) > 0 then split_part(model, '/', 1) else '' end`,
  key: sql`key_id`,
  // A tag has no comma.
  tag: sql`array_to_string(tags, ', ')`,
  member: sql`user_id`,
  account: sql`user_id`,
  department: sql`coalesce((
    select department from membership
    where membership.organization_id = account_id and membership.user_id = usage_sum.user_id
  ), '')`,
}

/** SQL of the names of what is grouped by its ID, for a group whose ID is `id`. */
const names: Readonly<Partial<Record<Dimension, RawBuilder<unknown>>>> = {
  key: sql`select api_key.id, api_key.name from api_key`,
  member: sql`select users.id, coalesce(users.display_name, users.email) as name from users`,
  account: sql`select users.id, users.email as name from users`,
}

interface GroupedSums extends UsageSums {
  interval: number
  /** The place of the group by cost, from 1; one more than the limit for all that follow. */
  place: number
  first: string | null
  second: string | null
  /** The number of groups. */
  groups: number
}

/** The rows that are read, further conditions included. */
export interface BreakdownSource extends UsageSource {
  where?: RawBuilder<unknown> | undefined
  /** A clause that leaves out sums which are no group's. */
  having?: RawBuilder<unknown> | undefined
}

/** A source with the figures that its readers see of its sums. */
interface Readable<Figures> extends BreakdownSource {
  toFigures: (sums: UsageSums) => Figures
}

/**
 * Reads usage by one or two groupings, and over time. Rejects with `invalid_request` for a period that the sums do not
 * have, and for more sums than an answer can have. Source: contract 6.7.
 */
export async function readBreakdown<Figures extends object>(
  db: Kysely<Schema>,
  source: Readable<Figures>,
  { filter, nowMs }: { filter: BreakdownFilter; nowMs: number },
): Promise<Breakdown<Figures>> {
  const { toFigures } = source
  const intervals = await readIntervals(db, filter, nowMs)
  const largestLimit = Math.floor(maxSums / intervals.starts.length)
  if (filter.limit > largestLimit) {
    const message = `limit: at most ${largestLimit} with ${intervals.starts.length} intervals.`
    throw invalidRequest('limit', 'out_of_range', message)
  }
  const rows = await readSums(db, source, { filter, intervals })
  const groups = sumByPlace(rows, filter.limit)
  const [firstNames, secondNames] = await Promise.all([
    readNames(
      db,
      filter.group_by,
      groups.map(({ first }) => first),
    ),
    readNames(
      db,
      filter.split_by,
      groups.map(({ second }) => second),
    ),
  ])
  const others = rows.filter(({ place }) => place > filter.limit)
  return {
    period: {
      start: toTimestamp(intervals.starts[0] ?? intervals.end),
      end: toTimestamp(intervals.end),
      time_zone: filter.time_zone,
    },
    total: toFigures(rows.reduce<UsageSums>(added, zeroSums)),
    groups: groups.map(({ first, second, sums }) => ({
      group: { id: first, name: firstNames.get(first) ?? null },
      split: second === null ? null : { id: second, name: secondNames.get(second) ?? null },
      ...toFigures(sums),
    })),
    other:
      others.length === 0
        ? null
        : {
            groups: (rows[0]?.groups ?? 0) - filter.limit,
            ...toFigures(others.reduce<UsageSums>(added, zeroSums)),
          },
    intervals: filter.granularity ? intervals.starts.map(toTimestamp) : [],
    time_series: filter.granularity
      ? rows.map((row) => ({
          interval: row.interval - 1,
          group: row.place > filter.limit ? null : row.place - 1,
          ...toFigures(row),
        }))
      : [],
  }
}

/** Returns the figures of an account or an organization. */
export const toAccountFigures = ({
  requests,
  failures,
  input,
  output,
  cost,
  usage_cost,
}: UsageSums) => ({
  requests: Number(requests),
  failed_requests: Number(failures),
  input_tokens: Number(input),
  output_tokens: Number(output),
  cost: toUsd(cost),
  usage_cost: toUsd(usage_cost),
})

interface Query {
  filter: BreakdownFilter
  intervals: Intervals
}

/** Sums by interval and group, ascending by both; groups beyond the limit are one. */
async function readSums(
  db: Kysely<Schema>,
  { table, isOf, sums, where = sql`true`, having = sql`` }: BreakdownSource,
  { filter, intervals: { starts, end, grain } }: Query,
): Promise<GroupedSums[]> {
  const first = dimensions[filter.group_by]
  const second = filter.split_by ? dimensions[filter.split_by] : sql`null::text`
  const { rows } = await sql<GroupedSums>`
    with counted as (
      select width_bucket(starts_at, ${starts}::timestamptz[]) as interval,
        ${first} as first, ${second} as second, ${sums}
      from ${table}
      where ${isOf} and ${where} and grain = ${grain}
        and starts_at >= ${starts[0]} and starts_at < ${end}
        and (${filter.model ?? null}::text is null or model = ${filter.model ?? null})
        and (${filter.provider ?? null}::text is null
          or ${dimensions.provider} = ${filter.provider ?? null})
      group by 1, 2, 3 ${having}
    ), ranked as (
      select first, second, least(${filter.limit} + 1, row_number() over (
        order by sum(usage_cost) desc, sum(requests) desc, first, second
      ))::int as place
      from counted group by 1, 2
    )
    select interval, place,
      case when place <= ${filter.limit} then min(ranked.first) end as first,
      case when place <= ${filter.limit} then min(ranked.second) end as second,
      (select count(*) from ranked)::int as groups,
      sum(requests)::bigint as requests, sum(successes)::bigint as successes,
      sum(failures)::bigint as failures, sum(input)::bigint as input,
      sum(output)::bigint as output, sum(duration)::bigint as duration,
      sum(timed)::bigint as timed, sum(cost)::bigint as cost,
      sum(usage_cost)::bigint as usage_cost, sum(revenue)::bigint as revenue,
      sum(provider_cost)::bigint as provider_cost, sum(uncosted)::bigint as uncosted
    from counted join ranked
      on ranked.first = counted.first and ranked.second is not distinct from counted.second
    group by interval, place order by interval, place`.execute(db)
  return rows
}

interface Group {
  first: string
  second: string | null
  sums: UsageSums
}

/** Sums the intervals of each group within the limit, by place. */
function sumByPlace(rows: readonly GroupedSums[], limit: number): Group[] {
  const groups: Group[] = []
  for (const row of rows) {
    if (row.place > limit) continue
    const sums = groups[row.place - 1]?.sums ?? zeroSums
    groups[row.place - 1] = { first: row.first ?? '', second: row.second, sums: added(sums, row) }
  }
  return groups
}

async function readNames(
  db: Kysely<Schema>,
  dimension: Dimension | undefined,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const nameRows = dimension && names[dimension]
  if (!nameRows) return new Map()
  const { rows } = await sql<{ id: string; name: string }>`
    ${nameRows} where id = any(${[...new Set(ids)]}::text[])`.execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

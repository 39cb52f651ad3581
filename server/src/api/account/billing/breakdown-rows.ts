import { sql, type RawBuilder } from 'kysely'
import type { BreakdownFilter, Dimension } from './breakdown-schema'
import type { Intervals } from './intervals'
import type { UsageSource } from './sum-source'

/** SQL of what rows of sums are grouped by; the provider is the part of a model before the slash. */
export const dimensions: Readonly<Record<Dimension, RawBuilder<unknown>>> = {
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

/** The rows that are read, further conditions included. */
export interface BreakdownSource extends UsageSource {
  where?: RawBuilder<unknown> | undefined
  /** A clause that leaves out sums which are no group's. */
  having?: RawBuilder<unknown> | undefined
}

interface Query {
  filter: BreakdownFilter
  intervals: Intervals
}

/** Returns SQL of the rows that a filter selects in a period. */
export const filterRows = (
  { isOf, where = sql`true` }: BreakdownSource,
  { filter, intervals: { starts, end, grain } }: Query,
) => sql`
  ${isOf} and ${where} and grain = ${grain}
  and starts_at >= ${starts[0]} and starts_at < ${end}
  and (${filter.model ?? null}::text is null or model = ${filter.model ?? null})
  and (${filter.provider ?? null}::text is null
    or ${dimensions.provider} = ${filter.provider ?? null})`

/** Returns the clause that leaves out sums which are no group's, such as those that a split hour has elsewhere. */
export const havingOf = ({ having }: BreakdownSource, { quarters }: Pick<Intervals, 'quarters'>) =>
  having ?? (quarters.length > 0 ? sql`having sum(requests) <> 0` : sql``)

import { sql, type RawBuilder } from 'kysely'
import type { Intervals } from './intervals'
import { addedColumns } from '../../../request-logs/tag-sums'

/** The columns of a table of sums, which is read under its name. */
export interface SumColumns {
  name: 'request_sum' | 'usage_sum'
  keys: readonly string[]
  sums: readonly string[]
}

export const requestColumns: SumColumns = {
  name: 'request_sum',
  keys: ['user_id', 'key_id', 'model'],
  sums: addedColumns,
}

export const usageColumns: SumColumns = {
  name: 'usage_sum',
  keys: ['account_id', 'user_id', 'key_id', 'model'],
  sums: [
    'requests',
    'failures',
    'cancellations',
    'input_tokens',
    'cached_input_tokens',
    'cache_write_tokens',
    'output_tokens',
    'reasoning_tokens',
    'audio_input_tokens',
    'audio_output_tokens',
    'duration_ms',
    'cost',
    'written_off',
    'house_paid',
  ],
}

const listed = (names: readonly string[]) => sql.raw(names.join(', '))

/**
 * Returns a table of sums whose hours are split at the borders of intervals within them: what a border's quarters of an hour
 * have moves from the start of its hour to them. Sums of all intervals are those of the hours, also where an hour has no
 * quarters, as before migration 0084: then all of it counts where it begins. Source: contract 6.7.
 */
export function splitHours(
  table: RawBuilder<unknown>,
  { name, keys, sums }: SumColumns,
  { quarters }: Pick<Intervals, 'quarters'>,
): RawBuilder<unknown> {
  if (quarters.length === 0) return table
  const negated = sql.raw(sums.map((sum) => `-${sum} as ${sum}`).join(', '))
  const isMoved = sql`grain = 'quarter_hour' and starts_at = any(${quarters}::timestamptz[])`
  return sql`(
    select grain, starts_at, ${listed(keys)}, ${listed(sums)} from ${table} where grain = 'hour'
    union all
    select 'hour', starts_at, ${listed(keys)}, ${listed(sums)} from ${table} where ${isMoved}
    union all
    select 'hour', date_trunc('hour', starts_at, 'UTC'), ${listed(keys)}, ${negated}
    from ${table} where ${isMoved}
  ) as ${sql.ref(name)}`
}

import { sql } from 'kysely'
import { toGrainStart } from '../platform/db/grains'

/** The columns of `usage_event` and `usage_sum` with numbers of tokens. */
export const tokenColumns = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
] as const

/** All tokens of a row of either, those of the prompt and of the answer. */
export const summedTokens = sql.raw(tokenColumns.join(' + '))

const summedColumns = [
  'requests',
  'failures',
  ...tokenColumns,
  'duration_ms',
  'cost',
  'written_off',
  'house_paid',
  'cancellations',
  'uncharged',
]

/** Returns SQL that sums columns under their names. */
export const sumsOf = (names: readonly string[]) =>
  sql.raw(names.map((name) => `sum(${name}) as ${name}`).join(', '))

const increments = sql.raw(
  summedColumns.map((name) => `${name} = usage_sum.${name} + excluded.${name}`).join(', '),
)

/**
 * Adds the minutes of `minutes` to the sums by minute, quarter of an hour, hour and day, and to those of organizations whose connections
 * served them, or whose pools paid, by member, model and day. Common table expressions of the statement that inserts the
 * events, so that each counts once. `minutes` has the columns `starts_at`, `account_id`, `user_id`, `key_id`, `model`,
 * `organization_id`, those of `usage_sum`, and `price`, `final_duration_ms` and `organization_spent`.
 */
export const addMinutes = sql`
  summed as (
    insert into usage_sum (
      grain, starts_at, account_id, user_id, key_id, model, ${sql.raw(summedColumns.join(', '))}
    )
    select grain, ${toGrainStart('starts_at')}, account_id, user_id, key_id, model, ${sumsOf(summedColumns)}
    from minutes cross join unnest(array['minute', 'quarter_hour', 'hour', 'day']) as grain
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict (grain, starts_at, account_id, user_id, key_id, model) do update set
      ${increments}
  ), shared as (
    insert into organization_sum
    select organization_id, (starts_at at time zone 'UTC')::date, user_id, model,
      sum(requests),
      sum(input_tokens + cached_input_tokens + cache_write_tokens + audio_input_tokens),
      sum(output_tokens + reasoning_tokens + audio_output_tokens),
      sum(final_duration_ms),
      sum(price), sum(cost - written_off),
      sum(organization_spent)
    from minutes where organization_id is not null
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (organization_id, day, user_id, model) do update set
      requests = organization_sum.requests + excluded.requests,
      input_tokens = organization_sum.input_tokens + excluded.input_tokens,
      output_tokens = organization_sum.output_tokens + excluded.output_tokens,
      duration_ms = organization_sum.duration_ms + excluded.duration_ms,
      price = organization_sum.price + excluded.price,
      cost = organization_sum.cost + excluded.cost,
      spent = organization_sum.spent + excluded.spent
  )`

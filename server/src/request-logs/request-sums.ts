import { sql } from 'kysely'
import { addTagged } from './tag-sums'
import { toGrainStart } from '../platform/db/grains'

const grownColumns = [
  'requests',
  'successes',
  'failures',
  'cancellations',
  'input_tokens',
  'output_tokens',
  'latency_ms',
  'cost',
  'own_cost',
  'revenue',
  'provider_cost',
  'uncosted',
]
const sums = sql.raw(grownColumns.map((name) => `sum(${name})`).join(', '))
const grown = sql.raw(
  grownColumns.map((name) => `${name} = request_sum.${name} + excluded.${name}`).join(', '),
)

const addToSums = sql`
  summed as (
      insert into request_sum (
        grain, starts_at, user_id, key_id, model, ${sql.raw(grownColumns.join(', '))}, peak_concurrent
      )
      select grain, ${toGrainStart('starts_at')}, user_id, key_id, model, ${sums}, max(peak_concurrent)
      from counted cross join unnest(array['day', 'hour', 'quarter_hour']) as grain
      group by 1, 2, 3, 4, 5
      order by 1, 2, 3, 4, 5
      on conflict (grain, user_id, starts_at, key_id, model) do update set
        ${grown},
        peak_concurrent = greatest(request_sum.peak_concurrent, excluded.peak_concurrent)
    ), minutes as (
      insert into request_minute (user_id, starts_at, requests, tokens, images, audio_seconds)
      select user_id, starts_at, sum(requests), sum(input_tokens + output_tokens), sum(images),
        sum(audio_seconds)
      from counted
      group by 1, 2
      order by 1, 2
      on conflict (user_id, starts_at) do update set
        requests = request_minute.requests + excluded.requests,
        tokens = request_minute.tokens + excluded.tokens,
        images = request_minute.images + excluded.images,
        audio_seconds = request_minute.audio_seconds + excluded.audio_seconds
      returning user_id, (starts_at at time zone 'UTC')::date as day, requests, tokens, images,
        audio_seconds
    ), company as (
      select user_id, (starts_at at time zone 'UTC')::date as day, max(peak_concurrent) as concurrent
      from counted group by 1, 2
    )
    insert into request_peak (
      user_id, day, requests_per_minute, tokens_per_minute, concurrent_requests, images_per_minute,
      audio_seconds_per_minute
    )
    select user_id, day, max(requests), max(tokens), max(concurrent), max(images), max(audio_seconds)
    from minutes join company using (user_id, day)
    group by 1, 2
    order by 1, 2
    on conflict (user_id, day) do update set
      requests_per_minute = greatest(request_peak.requests_per_minute, excluded.requests_per_minute),
      tokens_per_minute = greatest(request_peak.tokens_per_minute, excluded.tokens_per_minute),
      concurrent_requests = greatest(request_peak.concurrent_requests, excluded.concurrent_requests),
      images_per_minute = greatest(request_peak.images_per_minute, excluded.images_per_minute),
      audio_seconds_per_minute =
        greatest(request_peak.audio_seconds_per_minute, excluded.audio_seconds_per_minute)`

const addToSumsAndTags = sql`${addTagged}, ${addToSums}`

/**
 * Adds the logs that `counted` has counted by minute, user, key and model to the sums by quarter of an hour, hour and day and to the minutes and
 * peaks: the end of a statement. `counted` has the columns `starts_at`, `user_id`, `key_id`, `model`, those of `request_sum`
 * without its grain, `images` and `audio_seconds` as limits count them. With `hasTags` it is counted by its column `tags`, too, and added to the sums by tags.
 */
export const addCounted = ({ hasTags }: { hasTags: boolean }) =>
  hasTags ? addToSumsAndTags : addToSums

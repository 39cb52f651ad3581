import { sql } from 'kysely'
import { toGrainStart } from '../platform/db/grains'

/** The most sets of tags of an account that have sums of their own on one day, in UTC. */
export const maxTagSets = 500
/** Stands in sums for the sets of tags beyond these; no tag has such characters. */
export const otherTags = '(other)'

/** The columns that rows of `request_sum` and `request_tag_sum` add up, but the peak of concurrent requests. */
export const addedColumns = [
  'requests',
  'successes',
  'failures',
  'input_tokens',
  'output_tokens',
  'latency_ms',
  'cost',
  'own_cost',
  'revenue',
  'provider_cost',
  'uncosted',
]
const names = sql.raw(addedColumns.join(', '))
const sums = sql.raw(addedColumns.map((name) => `sum(${name})`).join(', '))
const grown = sql.raw(
  addedColumns.map((name) => `${name} = request_tag_sum.${name} + excluded.${name}`).join(', '),
)

/**
 * Adds the logs with tags among those of `counted`, which then has the column `tags`, to the sums by quarter of an hour, hour, day and set of
 * tags: common table expressions of the statement that adds them to the other sums. Statements that run at once may take
 * the sets of a day somewhat beyond their bound.
 */
export const addTagged = sql`
  tagged as (
    select *, (starts_at at time zone 'UTC')::date as day from counted where tags is not null
  ), wanted as (
    select user_id, day, tags,
      exists (
        select from request_tag_set as known
        where known.user_id = tagged.user_id and known.day = tagged.day and known.tags = tagged.tags
      ) as is_known
    from tagged group by 1, 2, 3
  ), ranked as (
    select *, row_number() over (partition by user_id, day, is_known order by tags) as place from wanted
  ), summed_set as (
    select user_id, day, tags, is_known from ranked
    where is_known or place + (
      select count(*) from request_tag_set as known
      where known.user_id = ranked.user_id and known.day = ranked.day
    ) <= ${maxTagSets}
  ), new_set as (
    insert into request_tag_set
    select user_id, day, tags from summed_set where not is_known
    order by 1, 2, 3
    on conflict do nothing
  ), summed_tags as (
    insert into request_tag_sum (grain, starts_at, user_id, key_id, model, tags, ${names})
    select grain, ${toGrainStart('starts_at')}, tagged.user_id, key_id, model,
      coalesce(summed_set.tags, array[${otherTags}]::text[]), ${sums}
    from tagged
    left join summed_set
      on summed_set.user_id = tagged.user_id and summed_set.day = tagged.day
      and summed_set.tags = tagged.tags
    cross join unnest(array['day', 'hour', 'quarter_hour']) as grain
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict (grain, user_id, starts_at, key_id, model, tags) do update set ${grown}
  )`

import { sql } from 'kysely'
import { summedTokens } from './usage-sums'

/**
 * Adds events with tags that budgets count to the sums by those tags, by minute, hour and day. A common table expression of
 * the statement that inserts the events as `fresh`, so that each counts once.
 */
export const addTagged = sql`
  tagged as (
    insert into usage_tag_sum (
      grain, starts_at, account_id, user_id, key_id, model, tags, requests, tokens, cost, uncharged
    )
    select grain, date_trunc(grain, started_at, 'UTC'), coalesce(account_id, ''), user_id, key_id, model,
      string_to_array(budget_tags, ','), count(*) filter (where outcome <> 'failed_over'),
      coalesce(sum(${summedTokens}), 0),
      -- As usageCost has it.
      sum(cost - written_off + case when billing_mode = 'house' then coalesce(price, 0) else 0 end),
      coalesce(sum(price - cost + written_off) filter (where account_id = organization_id), 0)
    from fresh cross join unnest(array['minute', 'hour', 'day']) as grain
    where budget_tags is not null
    group by 1, 2, 3, 4, 5, 6, 7
    order by 1, 2, 3, 4, 5, 6, 7
    on conflict (user_id, grain, starts_at, key_id, model, account_id, tags) do update set
      requests = usage_tag_sum.requests + excluded.requests,
      tokens = usage_tag_sum.tokens + excluded.tokens,
      cost = usage_tag_sum.cost + excluded.cost,
      uncharged = usage_tag_sum.uncharged + excluded.uncharged
  )`

/** Takes the orphans of `deleted`, which had cost nothing, out of those sums. */
export const lowerTagged = sql`
  update usage_tag_sum set requests = usage_tag_sum.requests - lost.requests
  from (
    select grain, date_trunc(grain, started_at, 'UTC') as starts_at,
      coalesce(account_id, '') as account_id, user_id, key_id, model,
      string_to_array(budget_tags, ',') as tags, count(*) as requests
    from deleted cross join unnest(array['minute', 'hour', 'day']) as grain
    where budget_tags is not null
    group by 1, 2, 3, 4, 5, 6, 7
  ) as lost
  where usage_tag_sum.grain = lost.grain and usage_tag_sum.starts_at = lost.starts_at
    and usage_tag_sum.account_id = lost.account_id and usage_tag_sum.user_id = lost.user_id
    and usage_tag_sum.key_id = lost.key_id and usage_tag_sum.model = lost.model
    and usage_tag_sum.tags = lost.tags`

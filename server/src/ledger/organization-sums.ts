import { sql } from 'kysely'

/**
 * Adds the events in `fresh` to the sums of organizations whose connections served them, or whose pools
 * paid. A part of the statement that inserts them, so that each counts once.
 */
export const addShared = sql`
  insert into organization_sum
  select organization_id, (started_at at time zone 'UTC')::date, user_id, model,
    -- Of a request that went on to another connection, only its last attempt counts.
    count(*) filter (where outcome <> 'failed_over'),
    sum(input_tokens + cached_input_tokens + cache_write_tokens + audio_input_tokens),
    sum(output_tokens + reasoning_tokens + audio_output_tokens),
    coalesce(sum(duration_ms) filter (where outcome <> 'failed_over'), 0),
    sum(coalesce(price, cost)), sum(cost - written_off),
    -- What a member pays himself is none of the organization's spending.
    coalesce(sum(coalesce(price, cost - written_off)) filter (where account_id = organization_id), 0)
  from fresh where organization_id is not null
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict (organization_id, day, user_id, model) do update set
    requests = organization_sum.requests + excluded.requests,
    input_tokens = organization_sum.input_tokens + excluded.input_tokens,
    output_tokens = organization_sum.output_tokens + excluded.output_tokens,
    duration_ms = organization_sum.duration_ms + excluded.duration_ms,
    price = organization_sum.price + excluded.price,
    cost = organization_sum.cost + excluded.cost,
    spent = organization_sum.spent + excluded.spent`

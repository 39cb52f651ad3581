import { sql, type Transaction } from 'kysely'
import { lowerTagged } from './tagged-sums'
import { toGrainStart } from '../platform/db/grains'
import type { Schema } from '../platform/db/schema'

/**
 * Removes orphans from the events and their sums: a copy of a running node's disk had recorded their attempts as
 * dead, and now they are settled (M34). A part of `settle`. They had cost nothing.
 */
export async function dropOrphans(trx: Transaction<Schema>, ids: readonly string[]): Promise<void> {
  await sql`
    with deleted as (
      delete from usage_event where id = any(${ids}::text[]) and state = 'orphan' returning *
    ), part as (
      select grain, ${toGrainStart('started_at')} as starts_at,
        coalesce(account_id, '') as account_id, user_id, key_id, model, count(*) as requests,
        sum(input_tokens) as input_tokens, sum(cached_input_tokens) as cached_input_tokens,
        sum(cache_write_tokens) as cache_write_tokens, sum(output_tokens) as output_tokens,
        sum(reasoning_tokens) as reasoning_tokens, sum(audio_input_tokens) as audio_input_tokens,
        sum(audio_output_tokens) as audio_output_tokens, sum(duration_ms) as duration_ms
      from deleted cross join unnest(array['minute', 'quarter_hour', 'hour', 'day']) as grain
      group by 1, 2, 3, 4, 5, 6
    ), shared as (
      select organization_id, (started_at at time zone 'UTC')::date as day, user_id, model,
        count(*) as requests, sum(duration_ms) as duration_ms
      from deleted where organization_id is not null
      group by 1, 2, 3, 4
    ), tagged as (
      ${lowerTagged}
    ), lowered as (
      update organization_sum set
        requests = organization_sum.requests - shared.requests,
        duration_ms = organization_sum.duration_ms - shared.duration_ms
      from shared
      where organization_sum.organization_id = shared.organization_id
        and organization_sum.day = shared.day and organization_sum.user_id = shared.user_id
        and organization_sum.model = shared.model
    )
    update usage_sum set
      requests = usage_sum.requests - part.requests,
      failures = usage_sum.failures - part.requests,
      input_tokens = usage_sum.input_tokens - part.input_tokens,
      cached_input_tokens = usage_sum.cached_input_tokens - part.cached_input_tokens,
      cache_write_tokens = usage_sum.cache_write_tokens - part.cache_write_tokens,
      output_tokens = usage_sum.output_tokens - part.output_tokens,
      reasoning_tokens = usage_sum.reasoning_tokens - part.reasoning_tokens,
      audio_input_tokens = usage_sum.audio_input_tokens - part.audio_input_tokens,
      audio_output_tokens = usage_sum.audio_output_tokens - part.audio_output_tokens,
      duration_ms = usage_sum.duration_ms - part.duration_ms
    from part
    where usage_sum.grain = part.grain and usage_sum.starts_at = part.starts_at
      and usage_sum.account_id = part.account_id and usage_sum.user_id = part.user_id
      and usage_sum.key_id = part.key_id and usage_sum.model = part.model`.execute(trx)
}

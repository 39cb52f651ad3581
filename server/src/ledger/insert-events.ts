import { sql, type Transaction } from 'kysely'
import type { Allocation } from './allocate'
import type { UsageEvent } from './usage-event'
import type { Schema } from '../db/schema'

/** An event, where its cost came from, and the ledger transaction that took it. */
export interface BookedEvent {
  event: UsageEvent
  allocation: Allocation
  transactionId: string | null
}

/** A row of `usage_event` as JSON; bigints travel as text, which PostgreSQL reads exactly. */
const toRow = ({ event, allocation, transactionId }: BookedEvent) => ({
  id: event.id,
  started_at: event.startedAt.toISOString(),
  request_id: event.requestId,
  user_id: event.userId,
  key_id: event.keyId,
  account_id: event.accountId,
  lease_id: event.leaseId,
  transaction_id: transactionId,
  billing_mode: event.billingMode,
  operation: event.operation,
  model: event.model,
  provider: event.provider,
  connection_id: event.connectionId,
  streamed: event.streamed,
  outcome: event.outcome,
  state: event.state,
  duration_ms: event.durationMs,
  first_token_ms: event.firstTokenMs,
  input_tokens: event.tokens.input,
  cached_input_tokens: event.tokens.cachedInput,
  cache_write_tokens: event.tokens.cacheWrite,
  output_tokens: event.tokens.output,
  reasoning_tokens: event.tokens.reasoning,
  audio_input_tokens: event.tokens.audioInput,
  audio_output_tokens: event.tokens.audioOutput,
  estimated: event.estimated,
  pricing: event.pricing,
  cost: String(event.cost),
  from_lease: String(allocation.fromLease),
  from_balance: String(allocation.fromBalance),
  written_off: String(allocation.writtenOff),
})

/**
 * Inserts events and adds them to the sums by minute, hour and day: only those that were not there,
 * so that the sums stay right whatever is sent twice. A part of `settle`.
 */
export async function insertEvents(
  trx: Transaction<Schema>,
  booked: readonly BookedEvent[],
): Promise<void> {
  if (booked.length === 0) return
  const rows = JSON.stringify(booked.map(toRow))
  await sql`
    with fresh as (
      insert into usage_event
      select * from jsonb_populate_recordset(null::usage_event, ${rows}::jsonb)
      order by id
      on conflict do nothing
      returning *
    ), late as (
      -- What the audit cannot compare once the first of these events has been forgotten.
      insert into audit_late (transaction_id, event_began_at)
      select transaction_id, min(started_at) from fresh
      where transaction_id is not null and started_at < now() - interval '20 hours'
      group by transaction_id
    ), grains as (
      select unnest(array['minute', 'hour', 'day']) as grain
    )
    insert into usage_sum
    select grain, date_trunc(grain, started_at, 'UTC'), coalesce(account_id, ''), user_id, key_id, model,
      count(*), count(*) filter (where outcome not in ('ok', 'cancelled')),
      sum(input_tokens), sum(cached_input_tokens), sum(cache_write_tokens),
      sum(output_tokens), sum(reasoning_tokens), sum(audio_input_tokens), sum(audio_output_tokens),
      sum(duration_ms), sum(cost), sum(written_off)
    from fresh cross join grains
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict (grain, starts_at, account_id, user_id, key_id, model) do update set
      requests = usage_sum.requests + excluded.requests,
      failures = usage_sum.failures + excluded.failures,
      input_tokens = usage_sum.input_tokens + excluded.input_tokens,
      cached_input_tokens = usage_sum.cached_input_tokens + excluded.cached_input_tokens,
      cache_write_tokens = usage_sum.cache_write_tokens + excluded.cache_write_tokens,
      output_tokens = usage_sum.output_tokens + excluded.output_tokens,
      reasoning_tokens = usage_sum.reasoning_tokens + excluded.reasoning_tokens,
      audio_input_tokens = usage_sum.audio_input_tokens + excluded.audio_input_tokens,
      audio_output_tokens = usage_sum.audio_output_tokens + excluded.audio_output_tokens,
      duration_ms = usage_sum.duration_ms + excluded.duration_ms,
      cost = usage_sum.cost + excluded.cost,
      written_off = usage_sum.written_off + excluded.written_off`.execute(trx)
}

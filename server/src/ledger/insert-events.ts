import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Allocation } from './allocate'
import { addShared } from './organization-sums'
import { recordColumns } from './usage-record'
import { elementsOf } from '../platform/db/elements'
import type { Schema } from '../platform/db/schema'

/** An event's record, the sources of its cost, and the ledger transaction that took it. */
export interface BookedRecord {
  record: string
  allocation: Allocation
  transactionId: string | null
}

const positionOf = (name: (typeof recordColumns)[number][0]) =>
  recordColumns.findIndex(([column]) => column === name)

/** A field that the record lacks is null. */
function valueOf(type: string, position: number): string {
  if (type === 'jsonb') return `nullif(event -> ${position}, 'null')`
  return `(event ->> ${position})::${type}`
}

/** The columns of records that begin at `start`. */
const columnsFrom = (start: number) =>
  recordColumns
    .map(([name, type], position) => ({ name, value: valueOf(type, start + position) }))
    // A record's `from_lease` is only a request: booking decides how much of it the lease covers.
    .filter(({ name }) => name !== 'from_lease')

const columns = columnsFrom(0)
const names = sql.raw(columns.map(({ name }) => name).join(', '))
const values = sql.raw(columns.map(({ value }) => value).join(', '))
const bookedNames = sql.raw('transaction_id, from_lease, from_balance, written_off')
const bookedTypes = ['text', 'bigint', 'bigint', 'bigint']
// These come first, as records are not equally long.
const bookedValues = sql.raw(bookedTypes.map(valueOf).join(', '))
const valuesAfterBooked = sql.raw(
  columnsFrom(bookedTypes.length)
    .map(({ value }) => value)
    .join(', '),
)

const toRow = ({ record, allocation, transactionId }: BookedRecord) =>
  `[${JSON.stringify(transactionId)},"${allocation.fromLease}","${allocation.fromBalance}",` +
  `"${allocation.writtenOff}",${record.slice(1)}`

/** Inserts events that are not there yet. A part of `settle`. */
export async function insertEvents(
  trx: Transaction<Schema>,
  booked: readonly BookedRecord[],
): Promise<void> {
  if (booked.length === 0) return
  const events = elementsOf(booked.map(toRow))
  await insert(trx, sql`select ${valuesAfterBooked}, ${bookedValues} from ${events} as event`)
}

const cost = sql.raw(`(event ->> ${positionOf('cost')})::bigint`)
const accountId = sql.raw(`event ->> ${positionOf('account_id')}`)

/**
 * Inserts events whose costs were taken out of their leases: the records as they are. `accounts` pay, by the
 * ledger transaction of each. Resolves with how many of the events were not there yet.
 */
export function insertTaken(
  trx: Transaction<Schema>,
  records: readonly string[],
  accounts: readonly { id: string; transactionId: string }[],
): Promise<number> {
  return insert(
    trx,
    sql`
      select ${values}, payer.transaction_id, ${cost}, 0, 0
      from ${elementsOf(records)} as event
      left join unnest(
        ${accounts.map(({ id }) => id)}::text[],
        ${accounts.map(({ transactionId }) => transactionId)}::text[]
      ) as payer (id, transaction_id) on payer.id = ${accountId} and ${cost} > 0`,
  )
}

/**
 * Inserts events and adds them to the sums by minute, hour and day, and to those of organizations by member,
 * model and day: only those that were not there, so that a repeated batch leaves the sums right. Resolves with
 * how many there were.
 */
async function insert(trx: Transaction<Schema>, events: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ inserted: bigint }>`
    with fresh as (
      insert into usage_event (${names}, ${bookedNames})
      ${events}
      order by ${sql.raw(String(columns.findIndex(({ name }) => name === 'id') + 1))}
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
    ), summed as (
      insert into usage_sum (
        grain, starts_at, account_id, user_id, key_id, model, requests, failures, input_tokens,
        cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, audio_input_tokens,
        audio_output_tokens, duration_ms, cost, written_off, house_paid, cancellations
      )
      select grain, date_trunc(grain, started_at, 'UTC'), coalesce(account_id, ''), user_id, key_id, model,
        -- Of a request that went on to another connection, only its last attempt counts.
        count(*) filter (where outcome <> 'failed_over'),
        count(*) filter (where outcome not in ('ok', 'cancelled', 'failed_over')),
        sum(input_tokens), sum(cached_input_tokens), sum(cache_write_tokens),
        sum(output_tokens), sum(reasoning_tokens), sum(audio_input_tokens), sum(audio_output_tokens),
        sum(duration_ms), sum(cost), sum(written_off),
        coalesce(sum(price) filter (where billing_mode = 'house'), 0),
        count(*) filter (where outcome = 'cancelled')
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
        written_off = usage_sum.written_off + excluded.written_off,
        house_paid = usage_sum.house_paid + excluded.house_paid,
        cancellations = usage_sum.cancellations + excluded.cancellations
    ), shared as (${addShared})
    select count(*) as inserted from fresh`.execute(trx)
  return Number(rows[0]?.inserted ?? 0n)
}

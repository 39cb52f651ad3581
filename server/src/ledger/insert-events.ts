import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Allocation } from './allocate'
import { recordColumns } from './usage-record'
import { addMinutes, sumsOf, tokenColumns } from './usage-sums'
import { addTagged } from './tagged-sums'
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
  bookedRecords: readonly BookedRecord[],
): Promise<void> {
  if (bookedRecords.length === 0) return
  const events = elementsOf(bookedRecords.map(toRow))
  await insert(trx, sql`select ${valuesAfterBooked}, ${bookedValues} from ${events} as event`)
}

const cost = sql.raw(`(event ->> ${positionOf('cost')})::bigint`)
const accountId = sql.raw(`event ->> ${positionOf('account_id')}`)

/**
 * Inserts events whose costs were taken out of their leases: the records as they are. `accounts` pay, by the
 * ledger transaction of each. Resolves with how many of the events were not there yet.
 */
export function insertBooked(
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
      returning started_at, transaction_id, account_id, organization_id, user_id, key_id, model, outcome,
        billing_mode, price, cost, written_off, duration_ms, budget_tags, ${sql.raw(tokenColumns.join(', '))}
    ), late as (
      -- What the audit cannot compare once the first of these events has been forgotten.
      insert into audit_late (transaction_id, event_began_at)
      select transaction_id, min(started_at) from fresh
      where transaction_id is not null and started_at < now() - interval '20 hours'
      group by transaction_id
    ), minutes as (
      -- Reads each event once: hours and days are sums of minutes.
      select date_bin('1 minute', started_at, timestamptz 'epoch') as starts_at,
        coalesce(account_id, '') as account_id, user_id, key_id, model, organization_id,
        count(*) as events,
        -- Of a request that went on to another connection, only its last attempt counts.
        count(*) filter (where outcome <> 'failed_over') as requests,
        count(*) filter (where outcome not in ('ok', 'cancelled', 'failed_over')) as failures,
        ${sumsOf(tokenColumns)}, ${sumsOf(['duration_ms', 'cost', 'written_off'])},
        coalesce(sum(price) filter (where billing_mode = 'house'), 0) as house_paid,
        count(*) filter (where outcome = 'cancelled') as cancellations,
        sum(coalesce(price, cost)) as price,
        coalesce(sum(duration_ms) filter (where outcome <> 'failed_over'), 0) as final_duration_ms,
        -- What a member pays himself is none of the organization's spending.
        coalesce(sum(coalesce(price, cost - written_off)) filter (where account_id = organization_id), 0)
          as organization_spent,
        -- Of which this was not charged: its own connections count at the price.
        coalesce(sum(price - cost + written_off) filter (where account_id = organization_id), 0)
          as uncharged
      from fresh
      group by 1, 2, 3, 4, 5, 6
    ), ${addTagged}, ${addMinutes}
    select coalesce(sum(events), 0)::bigint as inserted from minutes`.execute(trx)
  return Number(rows[0]?.inserted ?? 0n)
}

import { sql, type Transaction } from 'kysely'
import { sumUsage, type MinuteSum } from './sum-usage'
import type { Charge } from './charge'
import { shortColumns } from './usage-record'
import { addMinutes, tokenColumns } from './usage-sums'
import { copyRows } from '../platform/db/copy-rows'
import { elementsOf } from '../platform/db/elements'
import type { Schema } from '../platform/db/schema'

/** A usage event whose record has the columns of `shortColumns`, and whose cost its lease paid. */
export interface CopyableEvent {
  record: string
  charge: Charge & { usage: NonNullable<Charge['usage']> }
}

/** Events that began earlier may be what the audit has forgotten: only SQL has the time of the database. */
const maxAgeMs = 3_600_000

/** Returns whether `copyBooked` takes an event: nearly all are such. */
export const isCopyable = (
  event: { record: string; charge: Charge },
  nowMs: number,
): event is CopyableEvent =>
  event.charge.usage !== undefined &&
  event.charge.fromLease === event.charge.cost &&
  // An escape of JSON is none of the format that is copied.
  !event.record.includes('\\') &&
  nowMs - Date.parse(event.charge.startedAt) < maxAgeMs

const statement = `
  copy usage_event (${shortColumns.map(([name]) => name).join(', ')}, transaction_id, from_balance, written_off)
  from stdin (format csv, quote '"', escape '\\', null 'null')`

const objectStart = ',{"'
const objectEnd = '"},'

/**
 * Returns a record as a line of CSV: an array of JSON without escapes is one, but for the only object in it, which becomes a
 * text.
 */
export function toLine(record: string, transactionId: string | null): string {
  const paymentFields = `,${transactionId ?? 'null'},0,0`
  const start = record.indexOf(objectStart) + 1
  if (start === 0) return record.slice(1, -1) + paymentFields
  const end = record.indexOf(objectEnd, start) + 2
  const object = record.slice(start, end).replaceAll('"', '\\"')
  return `${record.slice(1, start)}"${object}"${record.slice(end, -1)}${paymentFields}`
}

/**
 * Inserts events whose costs were taken out of their leases, and adds them to the sums, as `insertBooked` does, at half of its
 * cost to the database. `accounts` pay, by the ledger transaction of each. Rejects with a unique violation if one of
 * the events is there already.
 */
export async function copyBooked(
  trx: Transaction<Schema>,
  events: readonly CopyableEvent[],
  accounts: readonly { id: string; transactionId: string }[],
): Promise<void> {
  if (events.length === 0) return
  const transactions = new Map(accounts.map(({ id, transactionId }) => [id, transactionId]))
  const payerOf = ({ cost, accountId }: Charge) =>
    cost > 0n && accountId !== null ? (transactions.get(accountId) ?? null) : null
  const lines = events.map(({ record, charge }) => toLine(record, payerOf(charge)))
  await copyRows(trx, statement, lines.join('\n'))
  await addSums(trx, sumUsage(events.map(({ charge }) => charge)))
}

const namesOfTokens = sql.raw(tokenColumns.join(', '))
const readTokens = sql.raw(tokenColumns.map((_, at) => `(one ->> ${11 + at})::bigint`).join(', '))

async function addSums(trx: Transaction<Schema>, sums: readonly MinuteSum[]): Promise<void> {
  const rows = elementsOf(sums.map(toRow))
  await sql`
    with minutes (
      starts_at, account_id, user_id, key_id, model, organization_id, requests, failures, cancellations, duration_ms,
      cost, ${namesOfTokens}, written_off, house_paid, uncharged, price,
      final_duration_ms, organization_spent
    ) as (
      select (one ->> 0)::timestamptz, one ->> 1, one ->> 2, one ->> 3, one ->> 4, one ->> 5,
        (one ->> 6)::bigint, (one ->> 7)::bigint, (one ->> 8)::bigint, (one ->> 9)::bigint,
        (one ->> 10)::bigint, ${readTokens}, 0, 0, 0, (one ->> 10)::bigint, (one ->> 9)::bigint,
        case when one ->> 1 = one ->> 5 then (one ->> 10)::bigint else 0 end
      from ${rows} as one
    ), ${addMinutes}
    select 1`.execute(trx)
}

const toRow = (sum: MinuteSum): string =>
  JSON.stringify([
    `${sum.minute}Z`,
    sum.accountId,
    sum.userId,
    sum.keyId,
    sum.model,
    sum.organizationId,
    sum.events,
    sum.failures,
    sum.cancellations,
    sum.durationMs,
    String(sum.cost),
    ...sum.tokens,
  ])

import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Transaction, TransactionFilter } from './schema'
import type { BilledAccount } from './billed-account'
import { noDocuments, readDocuments, type PaymentDocuments } from './payment-documents'
import type { Schema } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import { toPaged, type Page } from '../../../http/paging'
import { toTimeSpan, type TimeSpan } from '../../../http/span'
import { toUsd, toUsdOrNull } from '../../../wire/usd'
import { transactionTypes } from '../../../http/transaction-fields'

/** Maps the types that the API shows to kinds of ledger transactions. */
const kindsOf: Readonly<Record<Transaction['type'], readonly string[]>> = {
  purchase: ['topup'],
  usage: ['usage'],
  refund: ['refund', 'dispute'],
  adjustment: ['adjust', 'writeoff'],
  bonus: ['bonus'],
}

const typeOf = (kind: string) =>
  transactionTypes.find((type) => kindsOf[type].includes(kind)) ?? 'adjustment'

interface Row {
  /** As text: paging compares ids of one width. */
  id: string
  transaction_id: string
  kind: string
  amount: bigint
  balance_after: bigint | null
  description: string
  status: Transaction['status']
  reference: string | null
  /** The number of requests of a usage transaction, as far as they are still stored. */
  requests: bigint | null
  created_at: Date
}

const toTransaction = (
  row: Row,
  { organizationId }: BilledAccount,
  documents: PaymentDocuments,
): Transaction => ({
  id: row.transaction_id,
  type: typeOf(row.kind),
  amount: toUsd(row.amount),
  currency: 'USD',
  balance_after: toUsdOrNull(row.balance_after),
  description: row.description,
  status: row.status,
  payer: organizationId === null ? 'personal' : 'organization',
  organization_id: organizationId,
  reference_id: row.reference,
  request_count: row.requests === null || row.requests === 0n ? null : Number(row.requests),
  ...documents,
  created_at: toTimestamp(row.created_at),
})

interface TransactionListing {
  page: Page
  filter: TransactionFilter
}

/**
 * Lists changes of a balance, newest first, and checkouts that failed or are pending. Entries and payments take
 * their positions from one sequence, so that the indexes of both yield a page.
 */
export async function listTransactions(
  db: Kysely<Schema>,
  account: BilledAccount,
  { page, filter }: TransactionListing,
) {
  const { before, limit, offset } = page
  const filtered = filterRows(account.id, filter)
  const rowLimit = offset + limit + 1
  const isBefore = (column: RawBuilder<unknown>) =>
    before === undefined ? sql`true` : sql`${column} < ${BigInt(before)}`
  const [totals, listed] = await Promise.all([
    sql<{ total: bigint }>`
      select (select count(*) ${filtered.entries}) + (select count(*) ${filtered.payments}) as total
    `.execute(db),
    sql<Row>`
      select lpad(place::text, 19, '0') as id, listed.* from (
        (select e.id as place, ${entryColumns} ${filtered.entries} and ${isBefore(sql`e.id`)}
          order by e.id desc limit ${rowLimit})
        union all
        (select p.position, ${paymentColumns} ${filtered.payments} and ${isBefore(sql`p.position`)}
          order by p.position desc limit ${rowLimit})
      ) as listed
      order by place desc limit ${limit + 1} offset ${offset}`.execute(db),
  ])
  const { items, pagination } = toPaged(page, totals.rows[0]?.total ?? 0n, listed.rows)
  const detailed = await withUsage(db, items)
  const purchases = detailed.filter(({ kind }) => kind === 'topup')
  const documents = await readDocuments(
    db,
    purchases.flatMap(({ reference }) => reference ?? []),
  )
  return {
    transactions: detailed.map((row) =>
      toTransaction(
        row,
        account,
        (row.kind === 'topup' && documents.get(row.reference ?? '')) || noDocuments,
      ),
    ),
    pagination,
  }
}

/** Returns SQL of the checkout of a ledger transaction, whose row is `name`. */
export const checkoutOf = (name: 't' | 'moved') => {
  const [kind, ref] = [sql.ref(`${name}.kind`), sql.ref(`${name}.external_ref`)]
  return sql`
    case
      when ${kind} = 'topup' then (select id from payment where payment_ref = ${ref})
      when ${ref} like 'debt:%' then split_part(${ref}, ':', 2)
      when ${kind} in ('refund', 'dispute') then (
        select paid.id from payment_reversal as r join payment as paid using (payment_ref)
        where r.id = split_part(${ref}, ':', 1)
      )
    end`
}

const entryColumns = sql`
  t.id as transaction_id, t.kind, e.amount, e.balance_after, t.description, 'completed' as status,
  ${checkoutOf('t')} as reference, e.created_at`

const paymentColumns = sql`
  p.id as transaction_id, 'topup' as kind, p.amount, null::bigint as balance_after,
  case p.kind when 'automatic' then 'Automatic recharge' else 'Credits' end as description,
  p.status, p.id as reference, p.created_at`

/** Selects rows by cursor and filter; sources that the filter excludes are not read. */
function filterRows(accountId: string, filter: TransactionFilter) {
  const { type, status } = filter
  const span = toTimeSpan(filter)
  const hasEntries = status === undefined || status === 'completed'
  const hasPayments =
    (type === undefined || type === 'purchase') && (status === undefined || status !== 'completed')
  return {
    entries: sql`
      from ledger_entry as e join ledger_transaction as t on t.id = e.transaction_id
      where e.account_id = ${accountId} and ${isCreatedIn('e', span)} and ${hasEntries}::boolean
        and ${type === undefined ? sql`true` : sql`t.kind = any(${kindsOf[type]}::text[])`}`,
    payments: sql`
      from payment as p
      where p.account_id = ${accountId} and ${isCreatedIn('p', span)} and ${hasPayments}::boolean
        and ${status === undefined ? sql`p.status <> 'completed'` : sql`p.status = ${status}`}`,
  }
}

const isCreatedIn = (table: 'e' | 'p', { start, end }: TimeSpan) => {
  const column = sql.ref(`${table}.created_at`)
  return sql`
    (${start ?? null}::timestamptz is null or ${column} >= ${start ?? null}::timestamptz)
    and (${end ?? null}::timestamptz is null or ${column} < ${end ?? null}::timestamptz)`
}

interface Used {
  id: string
  requests: bigint
  request: string
}

/** Reads how many requests each usage transaction of a page covers, and the request's id where it is one. */
async function withUsage(
  db: Kysely<Schema>,
  rows: readonly Omit<Row, 'requests'>[],
): Promise<Row[]> {
  const ids = rows.filter(({ kind }) => kind === 'usage').map((row) => row.transaction_id)
  const { rows: used } =
    ids.length === 0
      ? { rows: [] }
      : await sql<Used>`
          select transaction_id as id, count(*) as requests, min(request_id) as request
          from usage_event where transaction_id = any(${ids}::text[])
          group by transaction_id`.execute(db)
  const byId = new Map(used.map((one) => [one.id, one]))
  return rows.map((row) => {
    const usage = byId.get(row.transaction_id)
    const isOne = usage?.requests === 1n
    return {
      ...row,
      requests: usage?.requests ?? null,
      reference: isOne ? usage.request : row.reference,
    }
  })
}

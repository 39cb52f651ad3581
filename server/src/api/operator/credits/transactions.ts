import { sql, type Kysely, type RawBuilder } from 'kysely'
import type {
  AnyTransaction,
  AnyTransactionFilter,
  TransactionStatus,
  TransactionType,
} from './schema'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import { toPaged, type Page } from '../../../http/paging'
import { toTimeSpan } from '../../../http/span'
import type { post, Posting } from '../../../ledger/post'
import { toUsd, toUsdOrNull } from '../../../wire/usd'

/** Maps kinds of ledger transactions to the types that the API shows. */
const typeOf = {
  topup: 'purchase',
  usage: 'usage',
  refund: 'refund',
  dispute: 'refund',
  adjust: 'adjustment',
  writeoff: 'adjustment',
  bonus: 'bonus',
} as const satisfies Record<string, TransactionType>

const kindsOf = (type: TransactionType) =>
  Object.entries(typeOf).flatMap(([kind, name]) => (name === type ? [kind] : []))

interface Row {
  /** As text: paging compares ids of one width. */
  id: string
  transaction_id: string
  kind: keyof typeof typeOf
  description: string
  amount: bigint
  balance_after: bigint | null
  account_id: string
  /** The address of an account, the name of an organization; null where it was deleted. */
  payer_name: string | null
  status: TransactionStatus
  requests: bigint
  created_at: Date
}

export const toTransaction = (row: Row): AnyTransaction => ({
  id: row.transaction_id,
  type: typeOf[row.kind],
  amount: toUsd(row.amount),
  currency: 'USD',
  balance_after: toUsdOrNull(row.balance_after),
  description: row.description,
  status: row.status,
  ...(isId('org', row.account_id)
    ? { payer: 'organization', organization_id: row.account_id }
    : { payer: 'personal', user_id: row.account_id }),
  payer_name: row.payer_name,
  ...(row.kind === 'usage' && { request_count: Number(row.requests) }),
  created_at: toTimestamp(row.created_at),
})

type Posted = NonNullable<Awaited<ReturnType<typeof post>>>

/** Converts a transaction just posted to a named account to a row of the list. */
export const toRow = (
  { accountId, kind, description }: Omit<Posting, 'externalRef'>,
  posted: Posted,
  payerName: string,
): Row => ({
  id: '',
  transaction_id: posted.transactionId,
  kind,
  description,
  amount: posted.amount,
  balance_after: posted.balanceAfter,
  account_id: accountId,
  payer_name: payerName,
  status: 'completed',
  requests: 0n,
  created_at: posted.createdAt,
})

/** Limits rows to one account; an id of the wrong kind matches no rows. */
function ofAccount({ user_id: userId, organization_id: organizationId }: AnyTransactionFilter) {
  const id = organizationId ?? userId
  if (id === undefined) return sql`account_id not like 'house:%'`
  const isPossible = isId(organizationId === undefined ? 'user' : 'org', id)
  return isPossible ? sql`account_id = ${id}` : sql`false`
}

/** Selects rows by cursor and filter: postings, and payments that failed or are pending. */
function filterRows(filter: AnyTransactionFilter) {
  const { type, status } = filter
  const { start, end } = toTimeSpan(filter)
  const hasEntries = status === undefined || status === 'completed'
  const hasPayments = (type === undefined || type === 'purchase') && status !== 'completed'
  const within = (table: 'e' | 'p') => sql`
    ${ofAccount(filter)}
      and ${start ? sql`${sql.ref(`${table}.created_at`)} >= ${start}` : sql`true`}
      and ${end ? sql`${sql.ref(`${table}.created_at`)} < ${end}` : sql`true`}`
  return {
    entries: sql`
      from ledger_entry as e join ledger_transaction as t on t.id = e.transaction_id
      where ${within('e')} and ${hasEntries}::boolean
        and ${type === undefined ? sql`true` : sql`t.kind = any(${kindsOf(type)}::text[])`}`,
    payments: sql`
      from payment as p
      where ${within('p')} and ${hasPayments}::boolean
        and ${status === undefined ? sql`p.status <> 'completed'` : sql`p.status = ${status}`}`,
  }
}

const entryColumns = sql`
  e.id as place, t.id as transaction_id, t.kind, t.description, e.amount, e.balance_after,
  e.account_id, 'completed' as status, e.created_at`

const paymentColumns = sql`
  p.position, p.id, 'topup', case p.kind when 'automatic' then 'Automatic recharge' else 'Credits' end,
  p.amount, null::bigint, p.account_id, p.status, p.created_at`

/**
 * Lists the transactions of all accounts, newest first. Entries and payments take their positions from one
 * sequence, so that the indexes of both yield a page.
 */
export async function listTransactions(
  db: Kysely<Schema>,
  page: Page,
  filter: AnyTransactionFilter,
) {
  const { before, limit, offset } = page
  const { entries, payments } = filterRows(filter)
  const rowLimit = offset + limit + 1
  const isBefore = (column: RawBuilder<unknown>) =>
    before === undefined ? sql`true` : sql`${column} < ${BigInt(before)}`
  const [counted, listed] = await Promise.all([
    sql<{ total: bigint }>`
      select (select count(*) ${entries}) + (select count(*) ${payments}) as total`.execute(db),
    sql<Row>`
      select lpad(place::text, 19, '0') as id, listed.*,
        coalesce(
          (select email from users where users.id = account_id),
          (select name from organization where organization.id = account_id)
        ) as payer_name,
        (select count(*) from usage_event as u
          where kind = 'usage' and u.transaction_id = listed.transaction_id) as requests
      from (
        (select ${entryColumns} ${entries} and ${isBefore(sql`e.id`)}
          order by e.id desc limit ${rowLimit})
        union all
        (select ${paymentColumns} ${payments} and ${isBefore(sql`p.position`)}
          order by p.position desc limit ${rowLimit})
      ) as listed
      order by place desc limit ${limit + 1} offset ${offset}`.execute(db),
  ])
  const { items, pagination } = toPaged(page, counted.rows[0]?.total ?? 0n, listed.rows)
  return { transactions: items.map(toTransaction), pagination }
}

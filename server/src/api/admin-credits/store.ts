import { sql, type Kysely } from 'kysely'
import type { Adjustment, Grant } from './schema'
import { isId, newIdBody } from '../../db/id'
import type { Schema } from '../../db/schema'
import { ApiError, invalidRequest } from '../../errors'
import { toTimestamp } from '../../http/fields'
import { toPaged, type Page } from '../../http/paging'
import { post, type Posting } from '../../ledger/post'
import { toUsd } from '../../wire/usd'

/** What a ledger transaction is called outside. */
const typeOf = {
  topup: 'purchase',
  usage: 'usage',
  refund: 'refund',
  dispute: 'refund',
  adjust: 'adjustment',
  writeoff: 'adjustment',
  bonus: 'bonus',
} as const

interface EntryRow {
  /** As text: paging compares ids of one width. */
  id: string
  transaction_id: string
  kind: keyof typeof typeOf
  description: string
  amount: bigint
  balance_after: bigint | null
  account_id: string
  requests: bigint
  created_at: Date
}

const toTransaction = (row: EntryRow) => ({
  id: row.transaction_id,
  type: typeOf[row.kind],
  amount: toUsd(row.amount),
  currency: 'USD',
  balance_after: row.balance_after === null ? null : toUsd(row.balance_after),
  description: row.description,
  status: 'completed',
  payer: 'personal',
  user_id: row.account_id,
  ...(row.kind === 'usage' && { request_count: Number(row.requests) }),
  created_at: toTimestamp(row.created_at),
})

export type CreditStore = ReturnType<typeof createCreditStore>

interface Options {
  db: Kysely<Schema>
  /** Something came to an account: who was just refused here is served again. */
  creditCame: (accountId: string) => void
}

/** What the operator gives and takes, and every movement of every account. */
export function createCreditStore({ db, creditCame }: Options) {
  async function move(posting: Omit<Posting, 'externalRef'>) {
    const { accountId } = posting
    if (!isId('user', accountId) || !(await exists(db, accountId))) {
      throw new ApiError('resource_not_found', { param: 'user_id' })
    }
    const posted = await post(db, { ...posting, externalRef: `operator:${newIdBody()}` })
    if (posted) {
      // The other nodes are notified; on this one the very next request must see it.
      creditCame(accountId)
      return toTransaction(toRow(posting, posted))
    }
    throw invalidRequest(
      'amount',
      'out_of_range',
      'amount: the available balance is below it; running requests hold a part of it.',
    )
  }
  return {
    grant: ({ user_id, amount, reason }: Grant) =>
      move({
        accountId: user_id,
        amount,
        kind: 'bonus',
        house: 'house:promo',
        description: reason,
      }),
    adjust: ({ user_id, amount, reason }: Adjustment) =>
      move({
        accountId: user_id,
        amount,
        kind: 'adjust',
        house: 'house:adjustment',
        description: reason,
      }),
    list: (page: Page, userId: string | undefined) => listEntries(db, page, userId),
  }
}

const toRow = (
  { accountId, kind, description }: Omit<Posting, 'externalRef'>,
  posted: NonNullable<Awaited<ReturnType<typeof post>>>,
): EntryRow => ({
  id: '',
  transaction_id: posted.transactionId,
  kind,
  description,
  amount: posted.amount,
  balance_after: posted.balanceAfter,
  account_id: accountId,
  requests: 0n,
  created_at: posted.createdAt,
})

async function exists(db: Kysely<Schema>, id: string): Promise<boolean> {
  const row = await db.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

async function listEntries(db: Kysely<Schema>, page: Page, userId: string | undefined) {
  const of =
    userId === undefined ? sql`e.account_id not like 'house:%'` : sql`e.account_id = ${userId}`
  const { rows: counted } = await sql<{ total: bigint }>`
    select count(*) as total from ledger_entry as e where ${of}`.execute(db)
  const { rows } = await sql<EntryRow>`
    select lpad(e.id::text, 19, '0') as id, e.transaction_id, t.kind, t.description, e.amount,
      e.balance_after, e.account_id, t.created_at,
      (select count(*) from usage_event as u where t.kind = 'usage' and u.transaction_id = t.id)
        as requests
    from ledger_entry as e join ledger_transaction as t on t.id = e.transaction_id
    where ${of} and ${page.before === undefined ? sql`true` : sql`e.id < ${BigInt(page.before)}`}
    order by e.id desc limit ${page.limit + 1} offset ${page.offset}`.execute(db)
  const { shown, pagination } = toPaged(page, counted[0]?.total ?? 0n, rows)
  return { transactions: shown.map(toTransaction), pagination }
}

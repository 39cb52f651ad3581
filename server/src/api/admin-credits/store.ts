import { sql, type Kysely } from 'kysely'
import type { Adjustment, Grant, TransactionFilter } from './schema'
import { isId, newIdBody } from '../../db/id'
import type { Schema } from '../../db/schema'
import { ApiError, invalidRequest } from '../../errors'
import { toTimestamp } from '../../http/fields'
import { pagedRows } from '../../http/paged-rows'
import type { Page } from '../../http/paging'
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
  ...(isId('org', row.account_id)
    ? { payer: 'organization', organization_id: row.account_id }
    : { payer: 'personal', user_id: row.account_id }),
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
  async function move(
    target: Pick<Grant, 'user_id' | 'organization_id'>,
    movement: Omit<Posting, 'externalRef' | 'accountId'>,
  ) {
    const accountId = await accountOf(db, target)
    const posting = { ...movement, accountId }
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
    grant: ({ amount, reason, ...target }: Grant) =>
      move(target, {
        amount,
        kind: 'bonus',
        house: 'house:promo',
        description: reason,
      }),
    adjust: ({ amount, reason, ...target }: Adjustment) =>
      move(target, {
        amount,
        kind: 'adjust',
        house: 'house:adjustment',
        description: reason,
      }),
    list: (page: Page, filter: TransactionFilter) => listEntries(db, page, filter),
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

/** The account of whom one names; that of an organization has its id too. Throws `resource_not_found`. */
async function accountOf(
  db: Kysely<Schema>,
  { user_id: userId, organization_id: organizationId }: Pick<Grant, 'user_id' | 'organization_id'>,
): Promise<string> {
  const isOrganization = organizationId !== undefined
  const id = organizationId ?? userId ?? ''
  const table = isOrganization ? 'organization' : 'users'
  const isPossible = isId(isOrganization ? 'org' : 'user', id)
  const row = isPossible
    ? await db.selectFrom(table).select('id').where('id', '=', id).executeTakeFirst()
    : undefined
  if (row) return row.id
  const param = isOrganization ? 'organization_id' : 'user_id'
  throw new ApiError('resource_not_found', { param })
}

/** Whose entries are wanted: nobody's where an id is none of its kind. */
function ofAccount({ user_id: userId, organization_id: organizationId }: TransactionFilter) {
  const id = organizationId ?? userId
  if (id === undefined) return sql`e.account_id not like 'house:%'`
  const isPossible = isId(organizationId === undefined ? 'user' : 'org', id)
  return isPossible ? sql`e.account_id = ${id}` : sql`false`
}

async function listEntries(db: Kysely<Schema>, page: Page, filter: TransactionFilter) {
  const entries = sql<EntryRow & { number: bigint }>`(
    select e.id as number, e.id::text as id, e.transaction_id, t.kind, t.description, e.amount,
      e.balance_after, e.account_id, t.created_at,
      (select count(*) from usage_event as u where t.kind = 'usage' and u.transaction_id = t.id)
        as requests
    from ledger_entry as e join ledger_transaction as t on t.id = e.transaction_id
    where ${ofAccount(filter)}
  )`
  const query = db.selectFrom(entries.as('entry')).selectAll()
  const { shown, pagination } = await pagedRows(db, query, { page, column: 'entry.number' })
  return { transactions: shown.map(toTransaction), pagination }
}

import { sql, type Kysely, type Transaction } from 'kysely'
import type { Adjustment, Grant, AnyTransactionFilter } from './schema'
import { listTransactions, toRow, toTransaction } from './transactions'
import { isId, generateIdBody } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { noteCreated } from '../../../platform/db/background-work'
import { isOutOfRange } from '../../../platform/db/violation'
import { ApiError, invalidRequest } from '../../../errors'
import type { Page } from '../../../http/paging'
import { post, type Posting } from '../../../ledger/post'
import { recordMoney } from '../../../audit-log/record-money'

export type CreditStore = ReturnType<typeof createCreditStore>

interface Options {
  db: Kysely<Schema>
  /**
   * Called when credit was added to an account, so that requests that it could not afford before are admitted
   * again.
   */
  onCreditAdded: (accountId: string) => void
}

/** Adjusts credits for operators, and lists the transactions of all accounts. */
export function createCreditStore({ db, onCreditAdded }: Options) {
  async function move(
    target: Pick<Grant, 'user_id' | 'organization_id'>,
    movement: Omit<Posting, 'externalRef' | 'accountId'>,
  ) {
    const { id: accountId, name } = await accountOf(db, target)
    const posting = { ...movement, accountId }
    const posted = await db
      .transaction()
      .execute((trx) => moveIn(trx, posting))
      .catch((thrown: unknown) => {
        if (!isOutOfRange(thrown)) throw thrown
        const message = 'amount: the balance would exceed the maximum of an account.'
        throw invalidRequest('amount', 'out_of_range', message)
      })
    if (posted) {
      // The other nodes receive a notification; on this one the very next request must see it.
      onCreditAdded(accountId)
      return toTransaction(toRow(posting, posted, name))
    }
    throw invalidRequest(
      'amount',
      'out_of_range',
      'amount: exceeds the available balance; running requests hold part of the balance.',
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
    list: (page: Page, filter: AnyTransactionFilter) => listTransactions(db, page, filter),
  }
}

async function moveIn(trx: Transaction<Schema>, posting: Omit<Posting, 'externalRef'>) {
  const posted = await post(trx, { ...posting, externalRef: `operator:${generateIdBody()}` })
  if (!posted) return undefined
  noteCreated(posted.transactionId)
  const { accountId, amount, kind, description } = posting
  await recordMoney(trx, kind === 'bonus' ? 'credit.granted' : 'credit.adjusted', {
    accountId,
    id: posted.transactionId,
    amount,
    description,
  })
  return posted
}

/** Finds the account of a target, with the organization's id where it is one. Throws `resource_not_found`. */
async function accountOf(
  db: Kysely<Schema>,
  { user_id: userId, organization_id: organizationId }: Pick<Grant, 'user_id' | 'organization_id'>,
): Promise<{ id: string; name: string }> {
  const isOrganization = organizationId !== undefined
  const id = organizationId ?? userId ?? ''
  const isPossible = isId(isOrganization ? 'org' : 'user', id)
  const { rows } = isPossible
    ? await sql<{ id: string; name: string }>`
        select id, ${sql.ref(isOrganization ? 'name' : 'email')} as name
        from ${sql.table(isOrganization ? 'organization' : 'users')} where id = ${id}`.execute(db)
    : { rows: [] }
  if (rows[0]) return rows[0]
  const param = isOrganization ? 'organization_id' : 'user_id'
  throw new ApiError('resource_not_found', { param })
}

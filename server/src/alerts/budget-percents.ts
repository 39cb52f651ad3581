import { sql, type Kysely, type Selectable } from 'kysely'
import { formatBudgetText } from './alert-text'
import {
  isUnnotified,
  notifyOfBudget,
  notifyReached,
  toBudgetFigures,
  toNotifiedColumns,
  type ReachedPercent,
} from './reached-percent'
import { readBudgetUse } from '../ledger/budget-use'
import type { BudgetRow } from '../platform/db/budget-schema'
import type { Schema } from '../platform/db/schema'

/** A budget that notifies, with what its notification needs of its account and its key. */
type WatchedBudget = Selectable<BudgetRow> & {
  email: string
  email_verified: boolean
  key_name: string | null
}

/**
 * Notifies some accounts of each budget whose booked use has reached a percent since the last notification of its
 * window: of the highest one, if it has reached several. Any number of processes may do it at once: an account is
 * notified once of a percent in a window. Resolves with how many notifications there were. Source: contract 6.14.
 */
export async function notifyBudgetPercents(
  db: Kysely<Schema>,
  userIds: readonly string[],
  nowMs: number,
): Promise<number> {
  const budgets = await findWatchedBudgets(db, userIds)
  const uses = await readBudgetUse(db, budgets, nowMs)
  return notifyReached(budgets, uses, (budget, reached) => recordPercent(db, budget, reached))
}

const findWatchedBudgets = (
  db: Kysely<Schema>,
  userIds: readonly string[],
): Promise<WatchedBudget[]> =>
  db
    .selectFrom('budget')
    .innerJoin('users', 'users.id', 'budget.user_id')
    .leftJoin('api_key', 'api_key.id', 'budget.key_id')
    .selectAll('budget')
    .select(['users.email', 'users.email_verified', 'api_key.name as key_name'])
    .where('budget.user_id', 'in', userIds)
    .where(sql<boolean>`notify_percents <> '{}'`)
    .orderBy('budget.id')
    .execute()

/**
 * Records the percent of which an account is notified, with the notification and its mail: all of them or none. Does
 * nothing where another process did, or the budget was changed. Resolves with whether it did.
 */
const recordPercent = (
  db: Kysely<Schema>,
  budget: WatchedBudget,
  reached: ReachedPercent,
): Promise<boolean> =>
  db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('budget')
      .set(toNotifiedColumns(reached))
      .where('id', '=', budget.id)
      .where('user_id', '=', budget.user_id)
      .where(isUnnotified(budget, reached))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    await notifyOwner(trx, budget, reached)
    return true
  })

async function notifyOwner(
  trx: Kysely<Schema>,
  budget: WatchedBudget,
  reached: ReachedPercent,
): Promise<void> {
  const { user_id: userId, email, email_verified, key_id, key_name: keyName } = budget
  const figures = { budget_id: budget.id, key_id, ...toBudgetFigures(budget, reached) }
  const owner = keyName === null ? '' : ` of the API key "${keyName}"`
  const subject = `Your budget "${budget.name}"${owner}`
  const text = formatBudgetText({ ...figures, name: budget.name, subject })
  const recipient = { id: userId, email, email_verified, link: '/budgets' }
  await notifyOfBudget(trx, recipient, { ...text, figures })
}

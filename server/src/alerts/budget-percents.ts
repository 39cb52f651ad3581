import { sql, type Kysely, type Selectable } from 'kysely'
import { formatBudgetText } from './alert-text'
import { readBudgetUse, type BudgetUse } from '../ledger/budget-use'
import { notify } from '../notifications/notify'
import type { BudgetRow } from '../platform/db/budget-schema'
import type { Schema } from '../platform/db/schema'
import { postMail } from '../platform/mail/outbox'

/** A budget that notifies, with what its notification needs of its account and its key. */
type WatchedBudget = Selectable<BudgetRow> & {
  email: string
  email_verified: boolean
  key_name: string | null
}

const nanosPerUsd = 1e9

/**
 * Returns the highest of some ascending percents of an amount that a use has reached; undefined for none. Of an amount
 * of zero, any use is all.
 */
export const findReachedPercent = (
  percents: readonly number[],
  { used, amount }: Pick<BudgetUse, 'used' | 'amount'>,
): number | undefined =>
  used <= 0n ? undefined : percents.findLast((percent) => used * 100n >= BigInt(percent) * amount)

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
  let notified = 0
  for (const [index, budget] of budgets.entries()) {
    const use = uses[index]
    if (!use) continue
    const percent = findReachedPercent(budget.notify_percents, use)
    if (percent === undefined || isNotified(budget, use.window.fromMs, percent)) continue
    if (await recordPercent(db, budget, { ...use, percent })) notified++
  }
  return notified
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

const isNotified = (budget: WatchedBudget, fromMs: number, percent: number): boolean =>
  budget.notified_window?.getTime() === fromMs && (budget.notified_percent ?? 0) >= percent

interface ReachedPercent extends BudgetUse {
  percent: number
}

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
    const from = new Date(reached.window.fromMs)
    const { numUpdatedRows } = await trx
      .updateTable('budget')
      .set({ notified_window: from, notified_percent: reached.percent })
      .where('id', '=', budget.id)
      .where('user_id', '=', budget.user_id)
      .where(sql<boolean>`date_trunc('milliseconds', updated_at) = ${budget.updated_at}`)
      .where(
        // A node whose clock is behind does not return to an earlier window.
        sql<boolean>`(notified_window is null or notified_window < ${from}
          or (notified_window = ${from} and notified_percent < ${reached.percent}))`,
      )
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    await notifyOwner(trx, budget, reached)
    return true
  })

async function notifyOwner(
  trx: Kysely<Schema>,
  budget: WatchedBudget,
  { window, percent, ...use }: ReachedPercent,
): Promise<void> {
  const isUsd = use.unit === 'usd'
  const [used, amount] = [use.used, use.amount].map(
    (value) => Number(value) / (isUsd ? nanosPerUsd : 1),
  )
  const isTotal = budget.window_unit === 'total'
  const toTime = (ms: number) => (isTotal ? null : new Date(ms).toISOString())
  const figures = {
    budget_id: budget.id,
    key_id: budget.key_id,
    enforcement: budget.enforcement,
    unit: use.unit,
    amount: amount ?? 0,
    used: used ?? 0,
    percent,
    window: budget.window_unit,
    window_start: toTime(window.fromMs),
    window_end: toTime(window.toMs),
  }
  const { title, body } = formatBudgetText({
    ...figures,
    name: budget.name,
    keyName: budget.key_name,
    resetsAt: isTotal ? undefined : new Date(window.toMs),
  })
  const { user_id: userId, email } = budget
  const noticeId = await notify(trx, {
    userId,
    kind: 'budget',
    title,
    body,
    figures,
    link: '/budgets',
  })
  if (!budget.email_verified) return
  const reference = `budget ${noticeId}`
  await postMail(trx, { recipient: email, subject: title, body: `${body}\n`, reference })
}

import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import type { BudgetUse } from '../ledger/budget-use'
import { notify } from '../notifications/notify'
import type { EventData } from '../notifications/events'
import type { BudgetRow, OrganizationBudgetRow } from '../platform/db/budget-schema'
import type { Schema } from '../platform/db/schema'
import { postMail } from '../platform/mail/outbox'

/** The columns of a budget that notifications depend on. */
type NotifyingBudget = Pick<
  Selectable<BudgetRow> | Selectable<OrganizationBudgetRow>,
  | 'notify_percents'
  | 'notified_window'
  | 'notified_percent'
  | 'updated_at'
  | 'window_unit'
  | 'enforcement'
>

/** A percent of a budget that its use has reached. */
export interface ReachedPercent extends BudgetUse {
  percent: number
}

/**
 * Returns the highest of some ascending percents of an amount that a use has reached; undefined for none. Of an amount
 * of zero, any use is all.
 */
export const findReachedPercent = (
  percents: readonly number[],
  { used, amount }: Pick<BudgetUse, 'used' | 'amount'>,
): number | undefined =>
  used <= 0n ? undefined : percents.findLast((percent) => used * 100n >= BigInt(percent) * amount)

const isNotified = (budget: NotifyingBudget, fromMs: number, percent: number): boolean =>
  budget.notified_window?.getTime() === fromMs && (budget.notified_percent ?? 0) >= percent

/** Records each budget that has reached a percent of which was not notified. Resolves with how many `record` resolved with true. */
export async function notifyReached<Budget extends NotifyingBudget>(
  budgets: readonly Budget[],
  uses: readonly BudgetUse[],
  record: (budget: Budget, reached: ReachedPercent) => Promise<boolean>,
): Promise<number> {
  let notified = 0
  for (const [index, budget] of budgets.entries()) {
    const use = uses[index]
    if (!use) continue
    const percent = findReachedPercent(budget.notify_percents, use)
    if (percent === undefined || isNotified(budget, use.window.fromMs, percent)) continue
    if (await record(budget, { ...use, percent })) notified++
  }
  return notified
}

/** Returns the columns of what was notified. */
export const toNotifiedColumns = ({ window, percent }: ReachedPercent) => ({
  notified_window: new Date(window.fromMs),
  notified_percent: percent,
})

/** Returns whether a row is as it was read, and was not notified by another process. */
export function isUnnotified(
  { updated_at: updatedAt }: NotifyingBudget,
  { window, percent }: ReachedPercent,
): RawBuilder<boolean> {
  const from = new Date(window.fromMs)
  // A node whose clock is behind does not return to an earlier window.
  return sql<boolean>`date_trunc('milliseconds', updated_at) = ${updatedAt}
    and (notified_window is null or notified_window < ${from}
      or (notified_window = ${from} and notified_percent < ${percent}))`
}

const nanosPerUsd = 1e9

/** Returns the figures of a reached percent for programs; amounts are USD, requests or tokens. */
export function toBudgetFigures(
  budget: NotifyingBudget,
  { window, percent, unit, used, amount }: ReachedPercent,
) {
  const inUnit = (value: bigint) => Number(value) / (unit === 'usd' ? nanosPerUsd : 1)
  const isTotal = budget.window_unit === 'total'
  const toTime = (ms: number) => (isTotal ? null : new Date(ms).toISOString())
  return {
    enforcement: budget.enforcement,
    unit,
    amount: inUnit(amount),
    used: inUnit(used),
    percent,
    window: budget.window_unit,
    window_start: toTime(window.fromMs),
    window_end: toTime(window.toMs),
  }
}

/** An account that is notified. */
interface Recipient {
  id: string
  email: string
  email_verified: boolean
  /** A path of the dashboard. */
  link: string
}

interface BudgetNotice {
  title: string
  body: string
  figures: Omit<EventData, 'title' | 'body'>
}

/** Notifies an account of a budget by its inbox, its destinations and, where its address is verified, mail. */
export async function notifyOfBudget(
  trx: Kysely<Schema>,
  { id: userId, email, email_verified: isVerified, link }: Recipient,
  { title, body, figures }: BudgetNotice,
): Promise<void> {
  const noticeId = await notify(trx, { userId, kind: 'budget', title, body, figures, link })
  if (!isVerified) return
  const reference = `budget ${noticeId}`
  await postMail(trx, { recipient: email, subject: title, body: `${body}\n`, reference })
}

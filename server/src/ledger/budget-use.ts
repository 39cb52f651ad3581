import type { Kysely, Selectable } from 'kysely'
import { readWindows } from './window-sums'
import { findWindow, type Window, type WindowRule } from '../platform/time-window'
import type { UsedBy } from './window-sums'
import { findAmountInForce } from '../platform/amount-override'
import { toAmountOverride } from '../platform/db/stored-override'
import type { BudgetRow, BudgetUnit, OrganizationBudgetRow } from '../platform/db/budget-schema'
import { toPaymentsId, toUsageFilter, withDepartment } from '../platform/usage-filter'
import type { Schema } from '../platform/db/schema'

type AccountBudget = Selectable<BudgetRow>
type OrganizationBudget = Selectable<OrganizationBudgetRow>
type StoredBudget = AccountBudget | OrganizationBudget

/** The columns of an amount: `spend` and `requests` are those of budgets of accounts only. */
interface AmountColumns extends Pick<AccountBudget, 'unit' | 'amount'> {
  spend?: bigint | null
  requests?: number | null
}

/** The unit and the amount of a budget: nano-dollars, requests or tokens. */
export function toBudgetAmount({ unit, amount, spend = null, requests = null }: AmountColumns): {
  unit: BudgetUnit
  amount: bigint
} {
  if (unit !== null) return { unit, amount: amount ?? 0n }
  return spend === null
    ? { unit: 'requests', amount: BigInt(requests ?? 0) }
    : { unit: 'usd', amount: spend }
}

/** The current window of a budget, and its booked use: nano-dollars, requests or tokens. */
export interface BudgetUse {
  window: Window
  unit: BudgetUnit
  used: bigint
  /** The amount that is in force. */
  amount: bigint
  /** The amount of the budget itself. */
  baseAmount: bigint
}

/** Returns the calendar by which a budget counts. */
export const toWindowRule = (
  row: Pick<AccountBudget, 'window_unit' | 'time_zone' | 'first_weekday'>,
): WindowRule => ({
  unit: row.window_unit,
  timeZone: row.time_zone,
  firstWeekday: row.first_weekday,
})

/** The most budgets that one statement reads. */
const maxRead = 500

/** Reads the booked use of budgets in their windows at a moment, in the order of the budgets. */
export async function readBudgetUse(
  db: Kysely<Schema>,
  rows: readonly StoredBudget[],
  atMs: number,
): Promise<BudgetUse[]> {
  const uses: BudgetUse[] = []
  for (let from = 0; from < rows.length; from += maxRead) {
    uses.push(...(await readSome(db, rows.slice(from, from + maxRead), atMs)))
  }
  return uses
}

async function readSome(db: Kysely<Schema>, rows: readonly StoredBudget[], atMs: number) {
  const usedBy = rows.map((row) => ({
    id: row.id,
    ...toCounted(row),
    window: findWindow(toWindowRule(row), atMs),
  }))
  const { sums } = await readWindows(db, { usedBy, unbooked: () => [] })
  return rows.flatMap((row, index) => {
    const window = usedBy[index]?.window
    const { requests = 0, spent = 0n, tokens = 0n } = sums.get(row.id) ?? {}
    const byUnit = { usd: spent, requests: BigInt(requests), tokens }
    const { unit, amount: baseAmount } = toBudgetAmount(row)
    const { amount } = findAmountInForce(baseAmount, toAmountOverride(row), atMs)
    return window ? [{ window, unit, amount, baseAmount, used: byUnit[unit] }] : []
  })
}

/** Returns the usage that a budget counts. */
function toCounted(
  row: StoredBudget,
): Pick<UsedBy, 'subjectId' | 'userId' | 'filter' | 'payments'> {
  if ('user_id' in row) {
    const { user_id: userId, key_id: keyId } = row
    return { subjectId: keyId ?? userId, userId, filter: toUsageFilter(row) }
  }
  const { organization_id: organizationId, member_id: memberId } = row
  const payments = { organizationId, memberId }
  const filter = toUsageFilter(withDepartment(row))
  return { subjectId: toPaymentsId(payments), userId: memberId ?? organizationId, filter, payments }
}

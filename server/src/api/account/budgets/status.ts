import type { Kysely, Selectable } from 'kysely'
import { weekdays } from './schema'
import { toTimestamp } from '../../../http/fields'
import { readBudgetUse, type BudgetUse } from '../../../ledger/budget-use'
import type { BudgetRow, OrganizationBudgetRow } from '../../../platform/db/budget-schema'
import type { Schema } from '../../../platform/db/schema'
import { toUsd } from '../../../wire/usd'

type Row = Selectable<BudgetRow>
type OrganizationRow = Selectable<OrganizationBudgetRow>

/** Reads the usage that budgets count in their current windows, and shows the budgets with it. */
export const readBudgetStatus = async (db: Kysely<Schema>, rows: readonly Row[]) =>
  (await readTerms(db, rows)).map(({ row, terms }) => ({
    id: row.id,
    name: row.name,
    key_id: row.key_id,
    ...terms,
  }))

/** Shows budgets of organizations as `readBudgetStatus` does those of accounts. */
export const readOrganizationBudgetStatus = async (
  db: Kysely<Schema>,
  rows: readonly OrganizationRow[],
) =>
  (await readTerms(db, rows)).map(({ row, terms }) => ({
    id: row.id,
    organization_id: row.organization_id,
    name: row.name,
    member_id: row.member_id,
    department: row.department,
    ...terms,
  }))

async function readTerms<Shown extends Row | OrganizationRow>(
  db: Kysely<Schema>,
  rows: readonly Shown[],
) {
  const uses = await readBudgetUse(db, rows, Date.now())
  return rows.flatMap((row, index) => {
    const use = uses[index]
    return use ? [{ row, terms: toTerms(row, use) }] : []
  })
}

/** Shows what a budget allows and has used. */
function toTerms(
  row: Row | OrganizationRow,
  { window: { fromMs, toMs }, unit, used, amount, baseAmount }: BudgetUse,
) {
  const inUnit = (value: bigint) => (unit === 'usd' ? toUsd(value) : Number(value))
  const isTotal = row.window_unit === 'total'
  const isNotified = row.notified_window?.getTime() === fromMs
  return {
    unit,
    amount: inUnit(baseAmount),
    amount_in_force: inUnit(amount),
    override: toShownOverride(row, inUnit),
    models: row.models,
    providers: row.providers,
    tags: row.tags,
    window: row.window_unit,
    time_zone: row.time_zone,
    first_weekday: weekdays[row.first_weekday - 1] ?? 'monday',
    enforcement: row.enforcement,
    notify_percents: row.notify_percents,
    notified_percent: isNotified ? row.notified_percent : null,
    used: inUnit(used),
    remaining: Math.max(0, inUnit(amount - used)),
    window_start: isTotal ? null : toTimestamp(new Date(fromMs)),
    window_end: isTotal ? null : toTimestamp(new Date(toMs)),
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

/** Shows the override of a budget that is in force or begins later; null for none. */
function toShownOverride(row: Row | OrganizationRow, inUnit: (value: bigint) => number) {
  const { override_amount: amount, override_from: from, override_until: until } = row
  if (amount === null || from === null || until === null || until.getTime() <= Date.now())
    return null
  return {
    amount: inUnit(amount),
    from: toTimestamp(from),
    until: toTimestamp(until),
    created_by: row.override_by ?? '',
  }
}

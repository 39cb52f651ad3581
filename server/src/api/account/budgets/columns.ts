import { sql, type Selectable } from 'kysely'
import {
  findBudgetConflict,
  findOverrideConflict,
  weekdays,
  type ChangedBudget,
  type NewBudget,
} from './schema'
import { invalidRequest } from '../../../errors'
import { toBudgetAmount } from '../../../ledger/budget-use'
import type {
  BudgetRow,
  BudgetUnit,
  OrganizationBudgetRow,
} from '../../../platform/db/budget-schema'
import { findAmountInForce } from '../../../platform/amount-override'
import { toAmountOverride } from '../../../platform/db/stored-override'
import { toUsd } from '../../../wire/usd'

type StoredBudget = Selectable<BudgetRow> | Selectable<OrganizationBudgetRow>

/** Returns an amount as it is stored: nano-dollars, requests or tokens. */
export const toStoredAmount = (unit: BudgetUnit, value: number): bigint =>
  unit === 'usd' ? BigInt(Math.round(value * 1e9)) : BigInt(value)

const toWeekdayNumber = (name: NewBudget['first_weekday']) => weekdays.indexOf(name) + 1

/** Returns the columns of a new budget, beside its amount and what it applies to. */
export function toNewColumns(budget: Omit<NewBudget, 'key_id'>) {
  const { name, models, providers, tags, window, time_zone, first_weekday } = budget
  const { enforcement, notify_percents } = budget
  const now = new Date()
  return {
    name,
    models,
    providers,
    tags,
    window_unit: window,
    time_zone,
    first_weekday: toWeekdayNumber(first_weekday),
    enforcement,
    notify_percents,
    created_at: now,
    updated_at: now,
  }
}

/** A change of a budget, and the account that makes it. */
export interface RequestedChange {
  fields: ChangedBudget
  by: string
}

/** Returns the amount and the columns of a budget after a change. Throws `invalid_request` where its fields conflict. */
export function toChangedColumns(current: StoredBudget, { fields, by }: RequestedChange) {
  const terms = toBudgetAmount(current)
  const { unit } = terms
  const currentAmount = unit === 'usd' ? toUsd(terms.amount) : Number(terms.amount)
  const { amount = currentAmount, window = current.window_unit, first_weekday: weekday } = fields
  const { enforcement = current.enforcement, notify_percents = current.notify_percents } = fields
  const conflict = findBudgetConflict({ unit, amount, window, enforcement, notify_percents })
  if (conflict) refuse(conflict)
  const columns = {
    name: fields.name ?? current.name,
    window_unit: window,
    time_zone: fields.time_zone ?? current.time_zone,
    first_weekday: weekday ? toWeekdayNumber(weekday) : current.first_weekday,
    enforcement,
    notify_percents,
    ...toOverrideColumns(current, { unit, override: fields.override, by }),
  }
  return { unit, amount, columns }
}

function refuse({
  path,
  params,
  message,
}: NonNullable<ReturnType<typeof findBudgetConflict>>): never {
  const field = String(path[0])
  throw invalidRequest(field, params.issue, `${field}: ${message}`)
}

interface OverrideChange {
  unit: BudgetUnit
  /** Null for none, undefined for the one that is stored. */
  override: ChangedBudget['override']
  by: string
}

/** Returns the columns of an override after a change. Throws `invalid_request` for times or an amount that none has. */
function toOverrideColumns(current: StoredBudget, { unit, override, by }: OverrideChange) {
  if (override === undefined) {
    const { override_amount, override_from, override_until, override_by } = current
    return { override_amount, override_from, override_until, override_by }
  }
  if (override === null)
    return { override_amount: null, override_from: null, override_until: null, override_by: null }
  const nowMs = Date.now()
  const from = new Date(Math.max(nowMs, Date.parse(override.from ?? '') || nowMs))
  const until = new Date(override.until)
  const conflict = findOverrideConflict(unit, { amount: override.amount, from, until }, nowMs)
  if (conflict) refuse(conflict)
  return {
    override_amount: toStoredAmount(unit, override.amount),
    override_from: from,
    override_until: until,
    override_by: by,
  }
}

interface Changed {
  columns: ReturnType<typeof toChangedColumns>['columns']
  /** Nano-dollars, requests or tokens. */
  amount: bigint
  used: bigint
}

/**
 * Returns the columns of what was notified: nothing in other windows, and where another amount is in force the percents that its use
 * has reached, so that the others are notified again.
 */
export function toNotifiedColumns(current: StoredBudget, { columns, amount, used }: Changed) {
  const isSameWindow = (['window_unit', 'time_zone', 'first_weekday'] as const).every(
    (name) => current[name] === columns[name],
  )
  if (!isSameWindow) return { notified_window: null, notified_percent: null }
  const nowMs = Date.now()
  const inForce = findAmountInForce(amount, toAmountOverride(columns), nowMs).amount
  const { amount: base } = toBudgetAmount(current)
  if (inForce === findAmountInForce(base, toAmountOverride(current), nowMs).amount) return {}
  const reached = inForce === 0n ? Infinity : Number((used * 100n) / inForce)
  if (reached >= (current.notified_percent ?? 0)) return {}
  // An evaluation may have recorded a percent since.
  return { notified_percent: sql<number>`least(notified_percent, ${reached})` }
}

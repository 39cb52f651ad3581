import type { Kysely, Selectable } from 'kysely'
import { weekdays } from './schema'
import { toTimestamp } from '../../../http/fields'
import { readWindows, type WindowSum } from '../../../ledger/window-sums'
import { findWindow, type Window } from '../../../platform/time-window'
import type { BudgetRow } from '../../../platform/db/budget-schema'
import type { Schema } from '../../../platform/db/schema'
import { toUsd } from '../../../wire/usd'

type Row = Selectable<BudgetRow>

const noUsage: WindowSum = { requests: 0, spent: 0n }

/** Reads the usage that budgets count in their current windows, and shows the budgets with it. */
export async function readBudgetStatus(db: Kysely<Schema>, rows: readonly Row[]) {
  const nowMs = Date.now()
  const budgets = rows.map((row) => ({ row, window: findWindow(toRule(row), nowMs) }))
  const usedBy = budgets.map(({ row: { id, user_id: userId, key_id: keyId }, window }) => ({
    id,
    subjectId: keyId ?? userId,
    userId,
    window,
  }))
  if (usedBy.length === 0) return []
  const { sums } = await readWindows(db, { usedBy, unbooked: () => [] })
  return budgets.map(({ row, window }) => toBudget(row, window, sums.get(row.id) ?? noUsage))
}

const toRule = ({ window_unit, time_zone, first_weekday }: Row) => ({
  unit: window_unit,
  timeZone: time_zone,
  firstWeekday: first_weekday,
})

/** Shows a budget. */
function toBudget(row: Row, { fromMs, toMs }: Window, { requests, spent }: WindowSum) {
  const amount = row.spend === null ? (row.requests ?? 0) : toUsd(row.spend)
  const remainder = row.spend === null ? (row.requests ?? 0) - requests : toUsd(row.spend - spent)
  const isTotal = row.window_unit === 'total'
  return {
    id: row.id,
    name: row.name,
    key_id: row.key_id,
    unit: row.spend === null ? ('requests' as const) : ('usd' as const),
    amount,
    window: row.window_unit,
    time_zone: row.time_zone,
    first_weekday: weekdays[row.first_weekday - 1] ?? 'monday',
    used: row.spend === null ? requests : toUsd(spent),
    remaining: Math.max(0, remainder),
    window_start: isTotal ? null : toTimestamp(new Date(fromMs)),
    window_end: isTotal ? null : toTimestamp(new Date(toMs)),
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

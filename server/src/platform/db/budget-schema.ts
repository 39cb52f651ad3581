import type { ColumnType, Generated } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** The effect of a budget that is spent: `hard` rejects requests, `soft` only notifies. */
export const enforcements = ['hard', 'soft'] as const

/** The units of the amounts of budgets. */
export const budgetUnits = ['usd', 'requests', 'tokens'] as const
export type BudgetUnit = (typeof budgetUnits)[number]

/** A budget of an account, or of one of its keys, per window of time. */
export interface BudgetRow {
  id: string
  user_id: string
  /** Null for the account itself. */
  key_id: string | null
  name: string
  /** Nano-dollars; null for a budget in requests, and for one that has `unit`. */
  spend: bigint | null
  /** Null for a budget in nano-dollars, and for one that has `unit`. */
  requests: number | null
  /** Set, with `amount`, for budgets in tokens or with a filter, which versions before 0080 do not know. */
  unit: BudgetUnit | null
  /** Nano-dollars, requests or tokens. */
  amount: bigint | null
  /** Ids and `<provider>/*` of the models that it counts; null for all. */
  models: string[] | null
  /** The providers that it counts; null for all. */
  providers: string[] | null
  /** The tags that each request has that it counts; null for none. */
  tags: string[] | null
  window_unit: 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year' | 'total'
  time_zone: string
  /** 1 for Monday. */
  first_weekday: number
  enforcement: Generated<(typeof enforcements)[number]>
  /** The percents of the amount at which the account is notified, ascending. */
  notify_percents: ColumnType<number[], readonly number[] | undefined, readonly number[]>
  /** The start of the last window in which the account was notified. */
  notified_window: Date | null
  /** The highest percent of which it was notified in that window. */
  notified_percent: number | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

export interface BudgetSchema {
  budget: BudgetRow
}

import type { ColumnType, Generated } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** The effect of a budget that is spent: `hard` rejects requests, `soft` only notifies. */
export const enforcements = ['hard', 'soft'] as const

/** The units of the amounts of budgets. */
export const budgetUnits = ['usd', 'requests', 'tokens'] as const
export type BudgetUnit = (typeof budgetUnits)[number]

/** The columns of all budgets, beside the amount. */
interface BudgetColumns {
  id: string
  name: string
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
  /** The percents of the amount of which is notified, ascending. */
  notify_percents: ColumnType<number[], readonly number[] | undefined, readonly number[]>
  /** The start of the last window in which was notified. */
  notified_window: Date | null
  /** The highest percent of which was notified in that window. */
  notified_percent: number | null
  /** The amount that replaces the budget's for a time, in its unit; null for none, as are the next three. */
  override_amount: bigint | null
  override_from: Date | null
  /** Exclusive. */
  override_until: Date | null
  /** The account that set it. */
  override_by: string | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** A budget of an account, or of one of its keys, per window of time. */
export interface BudgetRow extends BudgetColumns {
  user_id: string
  /** Null for the account itself. */
  key_id: string | null
  /** Nano-dollars; null for a budget in requests, and for one that has `unit`. */
  spend: bigint | null
  /** Null for a budget in nano-dollars, and for one that has `unit`. */
  requests: number | null
  /** Set, with `amount`, for budgets in tokens or with a filter, which versions before 0080 do not know. */
  unit: BudgetUnit | null
  /** Nano-dollars, requests or tokens. */
  amount: bigint | null
}

/** A budget of what an organization pays: of all of it, for one member, or for the members of a department. */
export interface OrganizationBudgetRow extends BudgetColumns {
  organization_id: string
  /** The member's account; null for no single member. */
  member_id: string | null
  /** Null for no department. */
  department: string | null
  unit: BudgetUnit
  /** Nano-dollars, requests or tokens. */
  amount: bigint
}

export interface BudgetSchema {
  budget: BudgetRow
  organization_budget: OrganizationBudgetRow
}

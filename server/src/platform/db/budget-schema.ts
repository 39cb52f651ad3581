import type { CreatedColumn, UpdatedColumn } from './column-types'

/** A limit of an account, or of one of its keys, per window of time. */
export interface BudgetRow {
  id: string
  user_id: string
  /** Null for the account itself. */
  key_id: string | null
  name: string
  /** Nano-dollars; null for a budget in requests. */
  spend: bigint | null
  /** Null for a budget in nano-dollars. */
  requests: number | null
  window_unit: 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year' | 'total'
  time_zone: string
  /** 1 for Monday. */
  first_weekday: number
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

export interface BudgetSchema {
  budget: BudgetRow
}

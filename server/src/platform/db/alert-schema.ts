import type { ColumnType, Generated } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** The types that the table's constraint allows. Source: contract 6.1. */
export const alertTypes = [
  'cost_threshold',
  'error_rate',
  'usage_spike',
  'quota_limit',
  'model_latency',
  'unusual_activity',
] as const

export const alertPeriods = ['hour', 'day', 'week', 'month'] as const

/** An alert rule of an account. */
export interface AlertRow {
  id: string
  user_id: string
  name: string
  type: (typeof alertTypes)[number]
  threshold: number
  period: (typeof alertPeriods)[number]
  enabled: boolean
  channels: ColumnType<string[], readonly string[], readonly string[]>
  /** The ids of the destinations that get its triggers; null for all. */
  destinations: ColumnType<
    string[] | null,
    readonly string[] | null | undefined,
    readonly string[] | null
  >
  description: string | null
  /** As requested; null for the default of the type. */
  min_requests: number | null
  trigger_count: Generated<number>
  last_triggered_at: Date | null
  /** Whether the alert triggers at once when its condition is true next. */
  armed: Generated<boolean>
  /** The time since which its condition has been false, while that is too short to count. */
  false_since: Date | null
  /** Increases with each change of its definition or its state. */
  revision: Generated<bigint>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

export interface AlertTriggerRow {
  id: string
  alert_id: string
  triggered_at: Date
  value: number
  acknowledged: Generated<boolean>
}

/** A test alert, which counts towards the limit of the hour after it. */
export interface AlertTestRow {
  user_id: string
  tested_at: CreatedColumn
}

/** Whether an account was at or above the warning threshold at the last check. */
export interface BalanceWatchRow {
  account_id: string
  armed: boolean
}

export interface BalanceRiseRow {
  account_id: string
  available: bigint
}

export interface AlertSchema {
  alert: AlertRow
  alert_trigger: AlertTriggerRow
  alert_test: AlertTestRow
  balance_watch: BalanceWatchRow
  balance_rise: BalanceRiseRow
}

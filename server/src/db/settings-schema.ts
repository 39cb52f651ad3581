import type { ColumnType, Generated } from 'kysely'

/** What an account sets for itself. Amounts are nano-dollars. */
export interface SettingsColumns {
  /** Whose pool pays for the platform's connections; null for the account itself. */
  funding_organization_id: string | null
  log_bodies: Generated<boolean>
  auto_recharge_enabled: Generated<boolean>
  auto_recharge_threshold: Generated<bigint>
  auto_recharge_amount: Generated<bigint>
  /** What the payment processor calls the account, and what it charges. */
  payment_customer_id: string | null
  payment_method_id: string | null
}

/** What the members of an organization used in a day, in UTC, by model. Written only with events. */
export interface OrganizationSumRow {
  organization_id: string
  day: ColumnType<Date, never, never>
  user_id: string
  model: string
  requests: bigint
  input_tokens: bigint
  output_tokens: bigint
  duration_ms: bigint
  /** By the catalogue, whoever paid. */
  price: bigint
  /** What was charged, to whomever. */
  cost: bigint
  /** What counts in the spending limits of the organization and the member. */
  spent: bigint
}

export interface SettingsSchema {
  organization_sum: OrganizationSumRow
}

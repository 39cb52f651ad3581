import type { ColumnType, Generated } from 'kysely'
import type { LimitedRole } from '../operator-role'

/** The settings of an account. Amounts are nano-dollars. */
export interface SettingsColumns {
  /** The organization whose pool pays for the platform's connections; null for the account itself. */
  funding_organization_id: string | null
  log_bodies: Generated<boolean>
  /** Whether the provider of a model may be left out; null where the operator's setting applies. */
  bare_model_names: boolean | null
  auto_recharge_enabled: Generated<boolean>
  auto_recharge_threshold: Generated<bigint>
  auto_recharge_amount: Generated<bigint>
  /** The payment processor's ids of the customer and of the payment method to charge. */
  payment_customer_id: string | null
  payment_method_id: string | null
}

/** The usage of an organization's members by day in UTC and by model. Written only together with usage events. */
export interface OrganizationSumRow {
  organization_id: string
  day: ColumnType<Date, never, never>
  user_id: string
  model: string
  requests: bigint
  input_tokens: bigint
  output_tokens: bigint
  duration_ms: bigint
  /** The price by the catalogue, independent of who paid. */
  price: bigint
  /** The charged amount, independent of the account that was charged. */
  cost: bigint
  /** The amount that counts towards the spending limits of the organization and the member. */
  spent: bigint
}

export interface SettingsSchema {
  organization_sum: OrganizationSumRow
}

/** The columns that hold the role of an operator. */
export interface RoleColumns {
  is_operator: Generated<boolean>
  /** A role beside that of full operators; `is_operator` counts where both are set. */
  operator_role: Generated<LimitedRole | null>
}

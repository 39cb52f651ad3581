import type { Selectable } from 'kysely'
import type { OrganizationBudgetRow } from './budget-schema'
import type { AmountOverride } from '../amount-override'

type OverrideColumns = Pick<
  Selectable<OrganizationBudgetRow>,
  'override_amount' | 'override_from' | 'override_until'
>

/** Returns the override of a budget, whether it is in force or not; null for none. */
export const toAmountOverride = ({
  override_amount: amount,
  override_from: from,
  override_until: until,
}: OverrideColumns): AmountOverride | null =>
  amount === null || from === null || until === null
    ? null
    : { amount, fromMs: from.getTime(), untilMs: until.getTime() }

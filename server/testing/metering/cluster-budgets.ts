import type { UsageEvent } from '../../src/ledger/usage-event'
import type { UsedBy } from '../../src/ledger/window-sums'
import { toBudgetLimit, type WindowLimit } from '../../src/limits/caller-limits'
import type { AmountOverride } from '../../src/platform/amount-override'
import type { WindowUnit } from '../../src/platform/time-window'
import {
  matchesFilter,
  toPaymentsId,
  type OrganizationPayments,
  type UsageFilter,
} from '../../src/platform/usage-filter'

/** Creates a budget of a key, or of an account, in hours to years of a zone with half hours. */
export const budget = (
  subjectId: string,
  unit: WindowUnit,
  amount: Partial<Pick<WindowLimit, 'requests' | 'spend' | 'tokens'>> & {
    filter?: UsageFilter
    override?: AmountOverride
  },
): WindowLimit =>
  toBudgetLimit({
    subjectId,
    id: `budget_${subjectId}_${unit}_${JSON.stringify(amount.filter)}`,
    name: unit,
    requests: null,
    spend: null,
    ...amount,
    rule: { unit, timeZone: 'Asia/Kolkata', firstWeekday: 7 },
  })

/** Creates a budget of what an organization pays, for one member or for all. */
export const paymentBudget = (
  payments: OrganizationPayments,
  amount: Partial<Pick<WindowLimit, 'requests' | 'spend' | 'tokens'>> & { filter?: UsageFilter },
): WindowLimit => {
  const limit = budget(toPaymentsId(payments), 'day', amount)
  return limit.budget ? { ...limit, budget: { ...limit.budget, payments } } : limit
}

/** The model of a request, its tags, and who sends and pays it: `user_1` by itself, unless fields differ. */
export type Kind = Pick<UsageEvent, 'model' | 'budgetTags'> &
  Partial<Pick<UsageEvent, 'userId' | 'keyId' | 'accountId' | 'organizationId'>>

/** Returns whether a usage counts a request. */
export function isCounted(
  { filter, payments }: Pick<UsedBy, 'filter' | 'payments'>,
  { model, budgetTags: tags, organizationId = null, userId }: Kind,
): boolean {
  if ((payments?.organizationId ?? null) !== organizationId) return false
  if (payments && payments.memberId !== null && payments.memberId !== userId) return false
  return !filter || matchesFilter(filter, { model, tags })
}

/** Returns whether a limit counts a request. */
export const countsRequest = ({ budget: terms }: WindowLimit, kind: Kind): boolean =>
  isCounted(terms ?? {}, kind)

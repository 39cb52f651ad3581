import type { MemberTerms } from '../catalog/member-terms'
import { combineLimits, type CallerLimits } from '../limits/caller-limits'
import { toMemberBudgets, type MemberBudgets } from '../limits/member-budgets'
import { memberIn } from '../metering/spending-limits'
import type { Candidate } from '../routing/candidate'

/** The limits of an organization for one of its members, and the budgets of what it pays. */
interface OrganizationLimits {
  limits: CallerLimits
  budgets: MemberBudgets
}

/** Terms stay the same object until they change. */
const limitsBy = new WeakMap<MemberTerms, OrganizationLimits>()

/** Returns the limits of an organization for one of its members; the same object until its terms change. */
export function limitsIn(terms: MemberTerms, userId: string): OrganizationLimits {
  const cachedLimits = limitsBy.get(terms)
  if (cachedLimits) return cachedLimits
  const { organizationId: id, department, memberSpend, budgets, ...rest } = terms
  const { windows, ...limits } = combineLimits([{ id, ...rest }])
  const ofMember = { id: memberIn(id, userId), requests: null, spend: memberSpend }
  const combined: OrganizationLimits = {
    limits: { ...limits, windows: memberSpend === null ? windows : [...windows, ofMember] },
    budgets: toMemberBudgets(budgets, { organizationId: id, userId, department }),
  }
  limitsBy.set(terms, combined)
  return combined
}

/** Finds the budgets of the organization that would pay a candidate; undefined where it has none for the member. */
export function findPayerBudgets(
  { billing: { payer, organizationId, terms } }: Candidate,
  userId: string,
): MemberBudgets | undefined {
  if (!terms || terms.budgets.length === 0 || payer !== organizationId) return undefined
  return limitsIn(terms, userId).budgets
}

import { toBudgetLimit, type CallerBudgets, type WindowLimit } from './caller-limits'
import type { OrganizationBudget } from '../catalog/organization-budgets'
import {
  toDepartmentTag,
  toPaymentsId,
  toUsageFilter,
  withDepartment,
} from '../platform/usage-filter'

/** A member, whose requests an organization pays. */
interface PaidMember {
  organizationId: string
  userId: string
  department: string | null
}

/** The budgets of an organization that bind one of its members. */
export interface MemberBudgets extends CallerBudgets {
  /** The tags of each of the member's requests, by which its departments are counted. */
  ownTags: readonly string[]
}

/** Returns whether a budget counts requests of a member. */
const binds = (
  { memberId, department }: Pick<OrganizationBudget, 'memberId' | 'department'>,
  member: Pick<PaidMember, 'userId' | 'department'>,
): boolean =>
  (memberId === null || memberId === member.userId) &&
  (department === null || department === member.department)

/** Selects the budgets of an organization that bind a member, as limits and the tags that they count. */
export function toMemberBudgets(
  budgets: readonly OrganizationBudget[],
  member: PaidMember,
): MemberBudgets {
  const binding = budgets.filter((budget) => binds(budget, member))
  return {
    limits: binding
      .filter(({ isHard }) => isHard)
      .map((budget) => toLimit(member.organizationId, budget)),
    tags: [...new Set(binding.flatMap(({ tags }) => tags ?? []))],
    ownTags: binding
      .filter(({ department }) => department !== null)
      .map(({ id }) => toDepartmentTag(id)),
  }
}

function toLimit(organizationId: string, budget: OrganizationBudget): WindowLimit {
  const { id, name, rule, unit, amount, override, memberId } = budget
  const payments = { organizationId, memberId }
  return toBudgetLimit({
    id,
    name,
    subjectId: toPaymentsId(payments),
    payments,
    spend: unit === 'usd' ? amount : null,
    requests: unit === 'requests' ? Number(amount) : null,
    tokens: unit === 'tokens' ? amount : null,
    rule,
    filter: toUsageFilter(withDepartment(budget)),
    override: override ?? undefined,
  })
}

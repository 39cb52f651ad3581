/** The requests that a budget counts, of those of its account or key: of each list that it has, null where it has none. */
export interface UsageFilter {
  /** Ids of models, and `<provider>/*`, one of which the called model has. */
  models: readonly string[] | null
  /** Providers, one of which the id of the called model begins with. */
  providers: readonly string[] | null
  /** Tags, all of which a request has. */
  tags: readonly string[] | null
}

/** The called model of a request, and its tags; null for none. */
export interface FilteredUse {
  model: string
  tags: readonly string[] | null
}

const anyModel = '/*'

/** Returns whether a filter has a request. */
export function matchesFilter(filter: UsageFilter, { model, tags }: FilteredUse): boolean {
  const provider = model.slice(0, model.indexOf('/'))
  const { models, providers } = filter
  if (models && !models.includes(model) && !models.includes(provider + anyModel)) return false
  if (providers && !providers.includes(provider)) return false
  return filter.tags?.every((tag) => tags?.includes(tag) === true) ?? true
}

/** Returns the filter of a budget; undefined where it counts all requests of its account or key. */
export const toUsageFilter = ({ models, providers, tags }: UsageFilter): UsageFilter | undefined =>
  (models ?? providers ?? tags) === null ? undefined : { models, providers, tags }

/** The payments of an organization that a budget counts: those for one member, or for all where it is null. */
export interface OrganizationPayments {
  organizationId: string
  memberId: string | null
}

/** Returns the id under which such payments are counted: not with usage that the organization serves unpaid. */
export const toPaymentsId = ({ organizationId, memberId }: OrganizationPayments): string =>
  memberId === null ? `${organizationId} pays` : `${organizationId} pays ${memberId}`

/**
 * Returns the tag under which the usage of a department is counted for a budget. It is none that a caller can send, as tags
 * have no brackets.
 */
export const toDepartmentTag = (budgetId: string): string => `(${budgetId})`

/** Adds the tag of its department to those that a budget of an organization counts. */
export const withDepartment = <
  Budget extends { id: string; department: string | null; tags: readonly string[] | null },
>(
  budget: Budget,
): Omit<Budget, 'tags'> & { tags: readonly string[] | null } =>
  budget.department === null
    ? budget
    : { ...budget, tags: [...(budget.tags ?? []), toDepartmentTag(budget.id)] }

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

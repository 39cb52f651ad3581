import {
  QueryClient,
  type InvalidateOptions,
  type InvalidateQueryFilters,
  type QueryKey,
} from '@tanstack/react-query'
import { ApiError } from './client'

const maxRetries = 2

/** A request that the service rejected would be rejected again. */
const isWorthRetrying = (count: number, error: Error) =>
  count < maxRetries && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500)

class DashboardQueryClient extends QueryClient {
  /**
   * Invalidates queries, also those that load for the first time. The library fetches those no second time, and their
   * first answer may be older than the change that invalidates them.
   */
  override async invalidateQueries<Key extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const firstLoads = this.getQueryCache()
      .findAll(filters)
      .filter(({ state }) => state.data === undefined && state.fetchStatus === 'fetching')
    await super.invalidateQueries(filters, options)
    if (firstLoads.length === 0) return
    // Queries that no page shows are not awaited above.
    await Promise.allSettled(firstLoads.map(async ({ promise }) => promise))
    const predicate: InvalidateQueryFilters['predicate'] = (query) => firstLoads.includes(query)
    const refetchType = filters?.refetchType
    await super.invalidateQueries({ predicate, ...(refetchType && { refetchType }) }, options)
  }
}

/** Creates what holds the data of all pages. */
export const createQueryClient = (): QueryClient =>
  new DashboardQueryClient({
    defaultOptions: {
      queries: {
        retry: isWorthRetrying,
        staleTime: 10_000,
        // Without a network, requests fail where their data is shown instead of waiting without a word.
        networkMode: 'always',
        refetchOnReconnect: true,
      },
    },
  })

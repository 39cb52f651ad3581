import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from './api'
import type { QuotaSearch, QuotaType } from './money-search'

/** Limit labels. */
export const quotaNames: Readonly<Record<QuotaType, string>> = {
  requests_per_minute: 'Requests per minute',
  tokens_per_minute: 'Tokens per minute',
  concurrent_requests: 'Concurrent requests',
  monthly_requests: 'Requests this month',
  monthly_spend: 'Spend this month',
}

const endpoint = api.user.quota

/** Current usage of the limits; per-minute limits change quickly. */
export const quotaQuery = queryOptions({
  queryKey: ['quota', 'status'],
  queryFn: async () => (await endpoint.status.$get()).json(),
  refetchInterval: 10_000,
})
export type Quota = Awaited<ReturnType<NonNullable<typeof quotaQuery.queryFn>>>['quotas'][number]

export const historyOnPage = 15

/** Usage by day over 90 days, or by month over one year. */
export const historyQuery = ({ granularity = 'day', page = 1 }: QuotaSearch) =>
  queryOptions({
    queryKey: ['quota', 'history', granularity, page],
    queryFn: async () => {
      const days = granularity === 'day' ? 89 : 365
      const start = new Date(Date.now() - days * 86_400_000)
      const query = {
        granularity,
        start_date: start.toISOString().slice(0, 10),
        limit: String(historyOnPage),
        offset: String((page - 1) * historyOnPage),
      }
      const answer = await (await endpoint.history.$get({ query })).json()
      // Part of the result, as the previous rows stay visible while new ones load.
      return { ...answer, granularity }
    },
    placeholderData: keepPreviousData,
  })
export type UsedThen = Awaited<
  ReturnType<NonNullable<ReturnType<typeof historyQuery>['queryFn']>>
>['history'][number]

/** The account's last hundred requests for limit increases. */
export const quotaRequestsQuery = queryOptions({
  queryKey: ['quota', 'requests'],
  queryFn: async () =>
    (await (await endpoint.requests.$get({ query: { limit: '100' } })).json()).quota_requests,
})
export type QuotaRequest = Awaited<
  ReturnType<NonNullable<typeof quotaRequestsQuery.queryFn>>
>[number]

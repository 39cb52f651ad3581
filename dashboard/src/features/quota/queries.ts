import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import type { QuotaSearch, QuotaType } from '../../url/period'

/** Limit labels. */
export const quotaNames: Readonly<Record<QuotaType, string>> = {
  requests_per_minute: 'Requests per minute',
  tokens_per_minute: 'Tokens per minute',
  images_per_minute: 'Images per minute',
  audio_seconds_per_minute: 'Seconds of sound per minute',
  concurrent_requests: 'Concurrent requests',
  monthly_requests: 'Requests this month',
  monthly_spend: 'Spend this month',
}

/** Current usage of the limits; per-minute limits change quickly. */
export const quotaQuery = queryOptions({
  queryKey: ['quota', 'status'],
  queryFn: async () => bodyOf(api.GET('/api/user/quota/status')),
  refetchInterval: 10_000,
})
export type Quota = Schemas['QuotaStatus']['quotas'][number]
export type MemberQuota = Schemas['QuotaStatus']['organizations'][number]

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
        limit: historyOnPage,
        offset: (page - 1) * historyOnPage,
      }
      const answer = await bodyOf(api.GET('/api/user/quota/history', { params: { query } }))
      // Part of the result, as the previous rows stay visible while new ones load.
      return { ...answer, granularity }
    },
    placeholderData: keepPreviousData,
  })
export type UsagePeriod = Schemas['QuotaHistory']['history'][number]

/** The account's last hundred requests for limit increases. */
export const quotaRequestsQuery = queryOptions({
  queryKey: ['quota', 'requests'],
  queryFn: async () =>
    (await bodyOf(api.GET('/api/user/quota/requests', { params: { query: { limit: 100 } } })))
      .quota_requests,
})
export type QuotaRequest = Schemas['QuotaRequest']

/** The colors of the states of a request for a higher limit. */
export const requestColors = { pending: 'blue', approved: 'green', rejected: 'red' } as const

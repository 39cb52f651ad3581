import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { pageQuery } from '../../api/paging'
import type { Period, TransactionFilter } from '../../url/period'
import { present } from '../../url/search'

const dayMs = 86_400_000
/** Keeps the figures of a page that stays open up to date. */
const refetchInterval = 60_000
/** The length of each period. */
export const lengthsMs: Readonly<Record<Period, number>> = {
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
}

/** The balance of an organization, or of the account itself when none is given. */
export const balanceQuery = (organization?: string) =>
  queryOptions({
    queryKey: ['billing', 'balance', organization],
    queryFn: async () => {
      const query = present({ organization_id: organization })
      return bodyOf(api.GET('/api/billing/balance', { params: { query } }))
    },
    refetchInterval,
  })
export type Balance = Schemas['Balance']

/** Usage and spend in a period that ends now. */
export const metricsQuery = (period: Period) =>
  queryOptions({
    queryKey: ['billing', 'metrics', period],
    queryFn: async () => bodyOf(api.GET('/api/billing/metrics', { params: { query: { period } } })),
    refetchInterval,
    placeholderData: keepPreviousData,
  })
export type Metrics = Schemas['BillingMetrics']

/** USD spent today and this month, both in UTC, as limits count them. */
export const spendQuery = queryOptions({
  queryKey: ['billing', 'spend'],
  queryFn: async () => {
    const today = new Date().toISOString().slice(0, 10)
    const query = {
      start_date: `${today.slice(0, 7)}-01`,
      end_date: today,
      granularity: 'day' as const,
    }
    const metrics = await bodyOf(api.GET('/api/billing/metrics', { params: { query } }))
    return {
      today: metrics.time_series.at(-1)?.cost ?? 0,
      month: metrics.summary.total_cost,
      nextMonth: metrics.projections.next_30_days,
    }
  },
  refetchInterval,
})

/** Request statistics of a period that ends now. */
export const statsQuery = (period: Period) =>
  queryOptions({
    queryKey: ['logs', 'stats', period],
    queryFn: async () => {
      const start_date = new Date(Date.now() - lengthsMs[period]).toISOString()
      return bodyOf(
        api.GET('/api/account/request-logs/stats', { params: { query: { start_date } } }),
      )
    },
    refetchInterval,
    placeholderData: keepPreviousData,
  })

/** Whether the account has made a request; polled until it has. */
export const hasBegunQuery = queryOptions({
  queryKey: ['logs', 'begun'],
  queryFn: async () => {
    const answer = await bodyOf(
      api.GET('/api/account/request-logs', { params: { query: { limit: 1 } } }),
    )
    return answer.logs.length > 0
  },
  refetchInterval: ({ state }) => (state.data === false ? 5000 : false),
})

/** The transactions of a balance. */
export const transactionsQuery = (organization: string | undefined, filter: TransactionFilter) =>
  queryOptions({
    queryKey: ['billing', 'transactions', organization, filter],
    queryFn: async () => {
      const { type, status, from, to, page = 1 } = filter
      const filters = present({
        organization_id: organization,
        type,
        status,
        start_date: from,
        end_date: to,
      })
      const query = pageQuery(filters, page)
      return bodyOf(api.GET('/api/billing/transactions', { params: { query } }))
    },
    placeholderData: keepPreviousData,
  })
export type Transaction = Schemas['Transaction']

/** Organizations whose billing the account manages. */
export const managedQuery = queryOptions({
  queryKey: ['organizations', 'managed'],
  queryFn: async () => {
    const { organizations } = await bodyOf(api.GET('/api/organizations'))
    return organizations.filter(
      ({ role, status }) => status === 'active' && (role === 'owner' || role === 'admin'),
    )
  },
})

/** The colors of the states of a transaction. */
export const transactionColors = {
  completed: 'green',
  pending: 'blue',
  failed: 'red',
  expired: 'gray',
} as const

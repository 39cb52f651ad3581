import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { pageQuery } from '../../api/paging'
import { toTimeWindow } from '../../api/time-window'
import type { Period, TransactionFilter } from '../../url/period'
import { present } from '../../url/search'

/** Keeps the figures of a page that stays open up to date. */
const refetchInterval = 60_000

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

/** Usage, spend and request statistics in a period that ends now: of one window, read together. */
export const activityQuery = (period: Period) =>
  queryOptions({
    queryKey: ['billing', 'activity', period],
    queryFn: async () => {
      const query = toTimeWindow(period, Date.now())
      const { start_date, end_date } = query
      const span = { start_date, end_date }
      const [metrics, stats] = await Promise.all([
        bodyOf(api.GET('/api/billing/metrics', { params: { query } })),
        bodyOf(api.GET('/api/account/request-logs/stats', { params: { query: span } })),
      ])
      return { metrics, stats }
    },
    refetchInterval,
    placeholderData: keepPreviousData,
  })
export type Metrics = Schemas['BillingMetrics']
export type Stats = Schemas['RequestLogStats']

/** The usage cost of the account today and this month, both in UTC, by who paid. Source: contract 11.5. */
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
      today: metrics.time_series.at(-1)?.usage_cost ?? 0,
      month: metrics.summary.usage_cost,
      nextMonth: metrics.projections.usage.next_30_days,
      paid: metrics.by_payer,
    }
  },
  refetchInterval,
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

/** The transaction of a checkout; null until the processor reports it. */
export const checkoutQuery = (id: string, organization: string | undefined) =>
  queryOptions({
    queryKey: ['checkout', id, organization],
    queryFn: async () => {
      const query = {
        type: 'purchase' as const,
        limit: 20,
        ...(organization && { organization_id: organization }),
      }
      const { transactions } = await bodyOf(
        api.GET('/api/billing/transactions', { params: { query } }),
      )
      return transactions.find(({ reference_id }) => reference_id === id) ?? null
    },
  })

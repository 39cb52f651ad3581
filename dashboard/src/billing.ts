import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from './api'
import type { Period, TransactionFilter } from './money-search'
import { present } from './search'

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
      return (await api.billing.balance.$get({ query })).json()
    },
    refetchInterval,
  })
export type Balance = Awaited<ReturnType<NonNullable<ReturnType<typeof balanceQuery>['queryFn']>>>

/** Usage and spend in a period that ends now. */
export const metricsQuery = (period: Period) =>
  queryOptions({
    queryKey: ['billing', 'metrics', period],
    queryFn: async () => (await api.billing.metrics.$get({ query: { period } })).json(),
    refetchInterval,
    placeholderData: keepPreviousData,
  })
export type Metrics = Awaited<ReturnType<NonNullable<ReturnType<typeof metricsQuery>['queryFn']>>>

/** USD spent today and this month, both in UTC, as limits count them. */
export const spendQuery = queryOptions({
  queryKey: ['billing', 'spend'],
  queryFn: async () => {
    const today = new Date().toISOString().slice(0, 10)
    const query = {
      start_date: `${today.slice(0, 7)}-01`,
      end_date: today,
      granularity: 'day',
    }
    const metrics = await (await api.billing.metrics.$get({ query })).json()
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
      return (await api.account['request-logs'].stats.$get({ query: { start_date } })).json()
    },
    refetchInterval,
    placeholderData: keepPreviousData,
  })

/** Whether the account has made a request; polled until it has. */
export const hasBegunQuery = queryOptions({
  queryKey: ['logs', 'begun'],
  queryFn: async () => {
    const answer = await api.account['request-logs'].$get({ query: { limit: '1' } })
    return (await answer.json()).logs.length > 0
  },
  refetchInterval: ({ state }) => (state.data === false ? 5000 : false),
})

export const transactionsOnPage = 25

/** The transactions of a balance. */
export const transactionsQuery = (organization: string | undefined, filter: TransactionFilter) =>
  queryOptions({
    queryKey: ['billing', 'transactions', organization, filter],
    queryFn: async () => {
      const { type, status, from, to, page = 1 } = filter
      const query = present({
        organization_id: organization,
        type,
        status,
        start_date: from,
        end_date: to,
        limit: String(transactionsOnPage),
        offset: String((page - 1) * transactionsOnPage),
      })
      return (await api.billing.transactions.$get({ query })).json()
    },
    placeholderData: keepPreviousData,
  })
export type Transaction = Awaited<
  ReturnType<NonNullable<ReturnType<typeof transactionsQuery>['queryFn']>>
>['transactions'][number]

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await api.account.settings.$get()).json(),
})
export type Settings = Awaited<ReturnType<NonNullable<typeof settingsQuery.queryFn>>>

/** Organizations whose billing the account manages. */
export const managedQuery = queryOptions({
  queryKey: ['organizations', 'managed'],
  queryFn: async () => {
    const { organizations } = await (await api.organizations.$get()).json()
    return organizations.filter(
      ({ role, status }) => status === 'active' && (role === 'owner' || role === 'admin'),
    )
  },
})

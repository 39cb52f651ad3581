import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from './api'
import type { Period, TransactionFilter } from './money-search'
import { present } from './search'

const dayMs = 86_400_000
/** Figures that somebody leaves open stay true. */
const refetchInterval = 60_000
/** How long periods are. */
export const lengthsMs: Readonly<Record<Period, number>> = {
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
}

/** What an organization has, one's own account without one. */
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

/** What was used and paid in a period that ends now. */
export const metricsQuery = (period: Period) =>
  queryOptions({
    queryKey: ['billing', 'metrics', period],
    queryFn: async () => (await api.billing.metrics.$get({ query: { period } })).json(),
    refetchInterval,
    placeholderData: keepPreviousData,
  })
export type Metrics = Awaited<ReturnType<NonNullable<ReturnType<typeof metricsQuery>['queryFn']>>>

/** USD spent this day and this month, both in UTC, as limits count them. */
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

/** How requests went in a period that ends now. */
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

/** Whether anything was ever asked; looked for again until it was. */
export const hasBegunQuery = queryOptions({
  queryKey: ['logs', 'begun'],
  queryFn: async () => {
    const answer = await api.account['request-logs'].$get({ query: { limit: '1' } })
    return (await answer.json()).logs.length > 0
  },
  refetchInterval: ({ state }) => (state.data === false ? 5000 : false),
})

export const transactionsOnPage = 25

/** What moved a balance. */
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

/** Organizations whose money one manages. */
export const managedQuery = queryOptions({
  queryKey: ['organizations', 'managed'],
  queryFn: async () => {
    const { organizations } = await (await api.organizations.$get()).json()
    return organizations.filter(
      ({ role, status }) => status === 'active' && (role === 'owner' || role === 'admin'),
    )
  },
})

/** The search parameters that decide what a page shows. Invalid values count as absent. */
type Search = Record<string, unknown>

export const periods = ['24h', '7d', '30d'] as const
export type Period = (typeof periods)[number]

export const measures = ['cost', 'requests', 'tokens'] as const
export type Measure = (typeof measures)[number]

export const transactionTypes = ['purchase', 'usage', 'refund', 'adjustment', 'bonus'] as const
export const transactionStatuses = ['pending', 'completed', 'failed', 'expired'] as const

export const quotaTypes = [
  'requests_per_minute',
  'tokens_per_minute',
  'images_per_minute',
  'audio_seconds_per_minute',
  'concurrent_requests',
  'monthly_requests',
  'monthly_spend',
] as const
export type QuotaType = (typeof quotaTypes)[number]

export const granularities = ['day', 'month'] as const

const oneOf = <Name extends string>(names: readonly Name[], value: unknown): Name | undefined =>
  names.find((name) => name === value)

const idIn = (value: unknown) =>
  typeof value === 'string' && /^[a-z]+_[0-9a-z]{26}$/.test(value) ? value : undefined

const dayIn = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined

const monthIn = (value: unknown) =>
  typeof value === 'string' && /^20\d\d-(0[1-9]|1[0-2])$/.test(value) ? value : undefined

const pageIn = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value > 1 && value < 10_000
    ? value
    : undefined

export interface OverviewSearch {
  period?: Period | undefined
  measure?: Measure | undefined
}

export const overviewSearch = (search: Search): OverviewSearch => ({
  period: oneOf(periods, search['period']),
  measure: oneOf(measures, search['measure']),
})

export interface TransactionFilter {
  type?: (typeof transactionTypes)[number] | undefined
  status?: (typeof transactionStatuses)[number] | undefined
  /** Whole days in UTC. */
  from?: string | undefined
  to?: string | undefined
  page?: number | undefined
}

export interface BillingSearch extends Omit<TransactionFilter, 'type'> {
  /** The organization whose balance is shown; the account's own when absent. */
  organization?: string | undefined
  /** The checkout from which the user returns. */
  checkout?: string | undefined
  /** The month of the statement; the current one when absent. */
  month?: string | undefined
}

export const transactionSearch = (search: Search): TransactionFilter => ({
  type: oneOf(transactionTypes, search['type']),
  status: oneOf(transactionStatuses, search['status']),
  from: dayIn(search['from']),
  to: dayIn(search['to']),
  page: pageIn(search['page']),
})

export function billingSearch(search: Search): BillingSearch {
  const { type: _, ...filter } = transactionSearch(search)
  return {
    organization: idIn(search['organization']),
    checkout: idIn(search['checkout']),
    month: monthIn(search['month']),
    ...filter,
  }
}

export interface QuotaSearch {
  /** The limit to request an increase of. */
  increase?: QuotaType | undefined
  granularity?: (typeof granularities)[number] | undefined
  page?: number | undefined
}

export const quotaSearch = (search: Search): QuotaSearch => ({
  increase: oneOf(quotaTypes, search['increase']),
  granularity: oneOf(granularities, search['granularity']),
  page: pageIn(search['page']),
})

export const groupings = ['model', 'key', 'payer', 'member'] as const
export type Grouping = (typeof groupings)[number]

export interface UsageSearch {
  by?: Grouping | undefined
  period?: Period | undefined
  /** A calendar month, instead of a period. */
  month?: string | undefined
  /** The organization whose members are shown. */
  organization?: string | undefined
}

export const usageSearch = (search: Search): UsageSearch => ({
  by: oneOf(groupings, search['by']),
  period: oneOf(periods, search['period']),
  month: monthIn(search['month']),
  organization: idIn(search['organization']),
})

const dayMs = 86_400_000

/** Returns the end of a day in UTC. */
export const toEndOfDay = (day: string) => new Date(Date.parse(day) + dayMs).toISOString()

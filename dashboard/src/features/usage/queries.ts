import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { lengthsMs } from '../billing/queries'
import { saveFile, toCsv } from '../../format/csv'
import type { Period } from '../../url/period'

/** The usage of one model, key, member or department. */
export interface Used {
  id: string
  name: string
  /** Distinguishes it from others of the same name. */
  about?: string | null
  requests: number
  input_tokens: number
  output_tokens: number
  cost_usd: number
  /** Input tokens read from a prompt cache, and the savings; absent when the API does not report them. */
  cached_tokens?: number
  cache_savings_usd?: number
  /** Null when nothing was measured, absent when the API does not report it. */
  avg_latency_ms?: number | null
}

export interface Usage {
  /** The start of the period as the service counted it; in whole UTC days with `isByDay`. */
  start: string
  end: string
  isByDay: boolean
  rows: Used[]
}

const sinceOf = (period: Period) => new Date(Date.now() - lengthsMs[period]).toISOString()

/** The maximum number of groups the API returns, those with the most requests. */
export const maxGroups = 1000

/** The account's usage by model or by key, including rejected requests, regardless of who paid. */
export const ownUsageQuery = (by: 'model' | 'key', period: Period) =>
  queryOptions({
    queryKey: ['usage', by, period],
    queryFn: async (): Promise<Usage> => {
      const query = { start_date: sinceOf(period) }
      const stats = await bodyOf(api.GET('/api/account/request-logs/stats', { params: { query } }))
      const rows =
        by === 'model'
          ? stats.by_model.map(({ model, cost, cache_savings: saved, ...sums }) => ({
              ...sums,
              cache_savings_usd: saved,
              id: model,
              name: model || 'No model',
              cost_usd: cost,
            }))
          : stats.by_key.map(({ api_key_id: id, api_key_prefix: prefix, ...sums }) => ({
              ...sums,
              id: id ?? '',
              name: nameOfKey(id, prefix),
              cost_usd: sums.cost,
              cache_savings_usd: sums.cache_savings,
            }))
      return { ...stats.period, isByDay: false, rows }
    },
    placeholderData: keepPreviousData,
  })

/** The name of a key that no longer exists. */
function nameOfKey(id: string | null, prefix: string | null): string {
  if (id === dashboardKey) return 'Dashboard'
  return prefix === null ? 'No key' : `${prefix}…`
}

/** Stands for a key when the request came from a signed-in browser. */
const dashboardKey = 'session'

export const sharedGroupings = ['user', 'model', 'department'] as const
export type SharedGrouping = (typeof sharedGroupings)[number]

type SharedUsage = Schemas['OrganizationUsage']['usage']

function rowsOf(usage: SharedUsage): Used[] {
  if ('by_user' in usage) {
    return usage.by_user.map(({ user_id: id, display_name: name, email, ...sums }) => ({
      ...sums,
      id,
      name: name ?? 'Former member',
      about: email,
    }))
  }
  if ('by_model' in usage) {
    return usage.by_model.map(({ model, ...sums }) => ({ ...sums, id: model, name: model }))
  }
  return usage.by_department.map(({ department, ...sums }) => ({
    ...sums,
    id: department ?? '',
    name: department ?? 'No department',
  }))
}

/** The members' usage of an organization at catalogue prices. */
export const sharedUsageQuery = (id: string, by: SharedGrouping, period: Period) =>
  queryOptions({
    queryKey: ['organizations', id, 'usage', by, period],
    queryFn: async (): Promise<Usage> => {
      const query = { group_by: by, start_date: sinceOf(period) }
      const { period: countedPeriod, usage } = await bodyOf(
        api.GET('/api/organizations/{id}/usage', { params: { path: { id }, query } }),
      )
      return { ...countedPeriod, isByDay: true, rows: rowsOf(usage) }
    },
    placeholderData: keepPreviousData,
  })

const columns = [
  'name',
  'about',
  'requests',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'cached_tokens',
  'cache_savings_usd',
  'avg_latency_ms',
] as const satisfies readonly (keyof Used)[]

/** Exports all rows as a file, without columns that are empty in all of them. */
export function exportUsage(file: string, rows: readonly Used[]): void {
  const exported = columns.filter((column) => rows.some((row) => row[column] !== undefined))
  saveFile(`${file}.csv`, toCsv(exported, rows), 'text/csv;charset=utf-8')
}

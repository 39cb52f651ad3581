import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from './api'
import { lengthsMs } from './billing'
import { saveFile, toCsv } from './csv'
import type { Period } from './money-search'

/** What one model, key, member or department used. */
export interface Used {
  id: string
  name: string
  /** What else tells it from the others. */
  about?: string | null
  requests: number
  input_tokens: number
  output_tokens: number
  cost_usd: number
  /** Input tokens read from a prompt cache, and what caching saved; absent where they are not counted. */
  cached_tokens?: number
  cache_savings_usd?: number
  /** Null where nothing was measured, absent where it is not told. */
  avg_latency_ms?: number | null
}

export interface Usage {
  /** As the service counted it; in whole days of UTC where `isByDay`. */
  start: string
  end: string
  isByDay: boolean
  rows: Used[]
}

const sinceOf = (period: Period) => new Date(Date.now() - lengthsMs[period]).toISOString()

/** As many groups as the service tells of, those with the most requests. */
export const mostGroups = 1000

/** What the account asked, by model or by key: refused requests too, and whoever paid. */
export const ownUsageQuery = (by: 'model' | 'key', period: Period) =>
  queryOptions({
    queryKey: ['usage', by, period],
    queryFn: async (): Promise<Usage> => {
      const query = { start_date: sinceOf(period) }
      const stats = await (await api.account['request-logs'].stats.$get({ query })).json()
      const rows =
        by === 'model'
          ? stats.by_model.map(({ model, cost, cache_savings: saved, ...sums }) => ({
              ...sums,
              cache_savings_usd: saved,
              id: model,
              name: model || 'No model was named',
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

/** Where no key of the account is called so any more. */
function nameOfKey(id: string | null, prefix: string | null): string {
  if (id === dashboardKey) return 'This dashboard'
  return prefix === null ? 'No key' : `${prefix}…`
}

/** What stands for a key where somebody is signed in. */
const dashboardKey = 'session'

export const sharedGroupings = ['user', 'model', 'department'] as const
export type SharedGrouping = (typeof sharedGroupings)[number]

type SharedUsage = Awaited<
  ReturnType<Awaited<ReturnType<(typeof api.organizations)[':id']['usage']['$get']>>['json']>
>['usage']

function rowsOf(usage: SharedUsage): Used[] {
  if ('by_user' in usage) {
    return usage.by_user.map(({ user_id: id, display_name: name, email, ...sums }) => ({
      ...sums,
      id,
      name: name ?? 'Somebody who left',
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

/** What the members of an organization used of it, at catalogue prices. */
export const sharedUsageQuery = (id: string, by: SharedGrouping, period: Period) =>
  queryOptions({
    queryKey: ['organizations', id, 'usage', by, period],
    queryFn: async (): Promise<Usage> => {
      const asked = { param: { id }, query: { group_by: by, start_date: sinceOf(period) } }
      const answer = await api.organizations[':id'].usage.$get(asked)
      const { period: counted, usage } = await answer.json()
      return { ...counted, isByDay: true, rows: rowsOf(usage) }
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

/** Saves all rows as a file, without the columns that none of them has. */
export function exportUsage(file: string, rows: readonly Used[]): void {
  const told = columns.filter((column) => rows.some((row) => row[column] !== undefined))
  saveFile(`${file}.csv`, toCsv(told, rows), 'text/csv;charset=utf-8')
}

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { toTimeWindow } from '../../api/time-window'
import { saveFile, toCsv } from '../../format/csv'
import { organizationName, payerName, type Payer } from '../../format/payer'
import type { Period } from '../../url/period'
import { lastDayOf, type StatementMonth } from '../billing/statement-month'
import { nameOf } from '../explorer/queries'

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

const sinceOf = (period: Period) => toTimeWindow(period, Date.now()).start_date

/** The maximum number of groups the API returns, those with the most requests. */
export const maxGroups = 1000

/** The account's usage by model, key or payer, including rejected requests, regardless of who paid. */
export const ownUsageQuery = (by: OwnGrouping, period: Period) =>
  queryOptions({
    queryKey: ['usage', by, period],
    queryFn: async (): Promise<Usage> => {
      const query = { start_date: sinceOf(period) }
      const stats = await bodyOf(api.GET('/api/account/request-logs/stats', { params: { query } }))
      return { ...stats.period, isByDay: false, rows: groupRows[by](stats) }
    },
    placeholderData: keepPreviousData,
  })

/** The account's usage of a calendar month by model or key, regardless of who paid: from sums, which outlast the logs. */
export const ownMonthQuery = (by: 'model' | 'key', { month, zone }: StatementMonth) =>
  queryOptions({
    queryKey: ['usage', by, month, zone],
    queryFn: async (): Promise<Usage> => {
      const days = { start_date: `${month}-01`, end_date: lastDayOf(month), time_zone: zone }
      const query = { ...days, group_by: by, limit: maxGroups }
      const { period, groups } = await bodyOf(
        api.GET('/api/billing/breakdown', { params: { query } }),
      )
      return { ...period, isByDay: zone === 'UTC', rows: groups.map((one) => toUsed(by, one)) }
    },
    placeholderData: keepPreviousData,
  })

const toUsed = (
  by: 'model' | 'key',
  { group, ...sums }: Schemas['UsageBreakdown']['groups'][number],
) => ({
  id: group.id,
  name: nameOf(by, group),
  requests: sums.requests,
  input_tokens: sums.input_tokens,
  output_tokens: sums.output_tokens,
  cost_usd: sums.usage_cost,
})

type OwnGrouping = 'model' | 'key' | 'payer'
type Stats = Schemas['RequestLogStats']
type Sums = Omit<Stats['by_model'][number], 'model'>

const toSums = ({ cost, cache_savings: saved, ...sums }: Sums) => ({
  ...sums,
  cache_savings_usd: saved,
  cost_usd: cost,
})

const groupRows: Readonly<Record<OwnGrouping, (stats: Stats) => Used[]>> = {
  model: ({ by_model: groups }) =>
    groups.map(({ model, ...sums }) => ({ ...toSums(sums), id: model, name: model || 'No model' })),
  key: ({ by_key: groups }) =>
    groups.map(({ api_key_id: id, api_key_prefix: prefix, ...sums }) => ({
      ...toSums(sums),
      id: id ?? '',
      name: nameOfKey(id, prefix),
    })),
  payer: ({ by_payer: groups }) =>
    groups.map(({ payer, payer_name, organization_id: id, ...sums }) => ({
      ...toSums(sums),
      id: id ?? String(payer),
      name: nameOfPayer({ payer, payer_name }),
    })),
}

function nameOfPayer(payer: Payer): string {
  if (payer.payer === 'organization') return organizationName(payer.payer_name)
  if (payer.payer === null) return 'No one: free, or no provider was called'
  const name = payerName(payer)
  return name.charAt(0).toUpperCase() + name.slice(1)
}

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

/** The members' usage of an organization at catalogue prices, in a period that ends now. */
export const sharedUsageQuery = (id: string, by: SharedGrouping, period: Period) =>
  queryOptions({
    queryKey: ['organizations', id, 'usage', by, period],
    queryFn: () => readShared(id, { group_by: by, start_date: sinceOf(period) }),
    placeholderData: keepPreviousData,
  })

/** The same in a calendar month of UTC, whose sums are kept by the day. */
export const sharedMonthQuery = (id: string, by: SharedGrouping, month: string) =>
  queryOptions({
    queryKey: ['organizations', id, 'usage', by, month],
    queryFn: () => {
      const end = new Date(Date.parse(lastDayOf(month)) + 86_400_000)
      return readShared(id, {
        group_by: by,
        start_date: `${month}-01T00:00:00Z`,
        end_date: end.toISOString(),
      })
    },
    placeholderData: keepPreviousData,
  })

interface SharedParameters {
  group_by: SharedGrouping
  start_date: string
  end_date?: string
}

async function readShared(id: string, query: SharedParameters): Promise<Usage> {
  const { period, usage } = await bodyOf(
    api.GET('/api/organizations/{id}/usage', { params: { path: { id }, query } }),
  )
  return { ...period, isByDay: true, rows: rowsOf(usage) }
}

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

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { saveFile, toCsv } from '../../format/csv'
import type {
  Dimension,
  ExplorerFilter,
  ExplorerMeasure,
  ExplorerSearch,
  Interval,
} from '../../url/explorer'
import type { Span } from './span'

export type Breakdown = Schemas['UsageBreakdown']
type Group = Breakdown['groups'][number]
type Figures = Pick<Group, 'requests' | 'input_tokens' | 'output_tokens' | 'usage_cost'>

const marginColumns = ['revenue', 'provider_cost', 'margin', 'uncosted_requests'] as const
type Margin = Pick<Schemas['InstallationBreakdown']['total'], (typeof marginColumns)[number]>

/** Returns the margin among figures, which only those of all accounts have. */
export const marginIn = (figures: object): Margin | undefined =>
  hasMargin(figures) ? figures : undefined

const hasMargin = (figures: object): figures is Margin => 'margin' in figures

/** Groups that are listed; the others are summed. */
const maxGroups = 50

/** The figures to read: their days, groupings and filters. */
export interface Question {
  span: Span
  every: Interval
  by: Dimension
  split: Dimension | undefined
  compare?: 'previous' | undefined
  filter: ExplorerFilter
  organization?: string | undefined
}

const toParameters = ({ span, every, compare, filter }: Question) => ({
  start_date: span.from,
  end_date: span.to,
  time_zone: span.zone,
  granularity: every,
  compare,
  limit: maxGroups / (every === 'hour' ? 2 : 1),
  model: filter.model,
  provider: filter.provider,
  tag: filter.tag,
})

const oneOf = <Name extends Dimension>(name: Dimension | undefined, names: readonly Name[]) =>
  names.find((one) => one === name)

export const accountDimensions = ['model', 'provider', 'tag', 'key'] as const
export const organizationDimensions = ['model', 'provider', 'member', 'department'] as const
export const installationDimensions = ['model', 'provider', 'tag', 'account'] as const

/** The usage of the account, or of an organization's credits. */
export const breakdownQuery = (question: Question) =>
  queryOptions({
    queryKey: ['usage', 'breakdown', question],
    queryFn: async () => {
      const { by, split, filter, organization } = question
      const query = {
        ...toParameters(question),
        organization_id: organization,
        group_by: oneOf(by, [...accountDimensions, ...organizationDimensions]),
        split_by: oneOf(split, [...accountDimensions, ...organizationDimensions]),
        key_id: filter.key,
        member_id: filter.member,
      }
      return bodyOf(api.GET('/api/billing/breakdown', { params: { query } }))
    },
    placeholderData: keepPreviousData,
  })

/** The usage of all accounts. */
export const installationBreakdownQuery = (question: Question) =>
  queryOptions({
    queryKey: ['operator', 'usage', 'breakdown', question],
    queryFn: async () => {
      const { by, split, filter } = question
      const query = {
        ...toParameters(question),
        group_by: oneOf(by, installationDimensions),
        split_by: oneOf(split, installationDimensions),
        user_id: filter.account,
      }
      return bodyOf(api.GET('/api/admin/usage/breakdown', { params: { query } }))
    },
    placeholderData: keepPreviousData,
  })

const missing: Readonly<Record<Dimension, string>> = {
  model: 'No model',
  provider: 'No provider',
  key: 'Deleted key',
  tag: 'No tag',
  member: 'Former member',
  department: 'No department',
  account: 'Deleted account',
}

/** The key of requests from a browser that is signed in. */
const dashboardKey = 'session'

/** Returns the name of a group of a dimension. */
export function nameOf(dimension: Dimension, { id, name }: Group['group']): string {
  if (dimension === 'key' && id === dashboardKey) return 'Dashboard'
  const isNamed = dimension === 'key' || dimension === 'member' || dimension === 'account'
  return (isNamed ? name : id) || missing[dimension]
}

/** Returns the name of a group, of both dimensions where there are two. */
export function titleOf(group: Group, by: Dimension, split: Dimension | undefined): string {
  const first = nameOf(by, group.group)
  return split && group.split ? `${first} · ${nameOf(split, group.split)}` : first
}

export const measured = (figures: Figures, measure: ExplorerMeasure): number =>
  ({
    cost: figures.usage_cost,
    requests: figures.requests,
    tokens: figures.input_tokens + figures.output_tokens,
    provider_cost: marginIn(figures)?.provider_cost ?? 0,
    margin: marginIn(figures)?.margin ?? 0,
  })[measure]

/** The most groups that a chart shows by themselves. */
const maxSeries = 7

/** Bars of a chart: a value for each series and interval. */
export interface Chart {
  /** The names by which `bars` have values, in the order of the stack. */
  series: { name: string; label: string }[]
  bars: Record<string, number | string>[]
}

/** Stacks the groups with the highest cost, and all others as one. */
export function toChart(
  breakdown: Breakdown,
  measure: ExplorerMeasure,
  { title, label }: { title: (group: Group) => string; label: (start: string) => string },
): Chart {
  const shown = breakdown.groups.slice(0, maxSeries)
  const hasOthers = breakdown.groups.length > maxSeries || breakdown.other !== null
  const bars: Record<string, number | string>[] = breakdown.intervals.map((start) => ({
    label: label(start),
    ...Object.fromEntries(shown.map((_, index) => [`group${index}`, 0])),
    ...(hasOthers && { others: 0 }),
  }))
  for (const sums of breakdown.time_series) {
    const bar = bars[sums.interval]
    const isShown = sums.group !== null && sums.group < maxSeries
    const name = isShown ? `group${sums.group}` : 'others'
    if (bar) bar[name] = Number(bar[name]) + measured(sums, measure)
  }
  return {
    series: [
      ...shown.flatMap((group, index) =>
        measured(group, measure) === 0 ? [] : { name: `group${index}`, label: title(group) },
      ),
      ...(hasOthers ? [{ name: 'others', label: 'All others' }] : []),
    ],
    bars,
  }
}

const figureColumns = [
  'requests',
  'failed_requests',
  'input_tokens',
  'output_tokens',
  'cost',
  'usage_cost',
] as const

/** Exports a row for each interval and group. */
export function exportBreakdown(breakdown: Breakdown, { by, split, span }: Question): void {
  const rows: Record<string, unknown>[] = breakdown.time_series.map(
    ({ interval, group: index, ...figures }) => {
      const group = index === null ? undefined : breakdown.groups[index]
      return {
        ...figures,
        start: breakdown.intervals[interval],
        [by]: group ? nameOf(by, group.group) : 'All others',
        ...(split && { [split]: group?.split ? nameOf(split, group.split) : '' }),
      }
    },
  )
  const columns = [
    'start',
    by,
    ...(split ? [split] : []),
    ...figureColumns,
    ...(marginIn(breakdown.total) ? marginColumns : []),
  ]
  const text = toCsv(columns, rows)
  saveFile(`usage-by-${by}-${span.from}-${span.to}.csv`, text, 'text/csv;charset=utf-8')
}

/** Returns the search of the requests of one group alone, grouped by the next dimension; undefined where there is no filter for it. */
export function narrow(
  by: Dimension,
  id: string,
  available: readonly Dimension[],
): ExplorerSearch | undefined {
  if (id === '' || by === 'department') return undefined
  const next = by === 'model' ? available.at(-1) : 'model'
  return { [by]: id, by: next, split: undefined }
}

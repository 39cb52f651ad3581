import { textsIn } from './address'
import { measures } from './period'
import { oneOf, type Search } from './search'

export const intervals = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof intervals)[number]

export const dimensions = [
  'model',
  'provider',
  'key',
  'tag',
  'member',
  'department',
  'account',
] as const
export type Dimension = (typeof dimensions)[number]

/** The figures that a chart can show; operators alone see the last two. */
export const explorerMeasures = [...measures, 'provider_cost', 'margin'] as const
export type ExplorerMeasure = (typeof explorerMeasures)[number]

/** The filters of the explorer; the address holds them. */
export interface ExplorerFilter {
  model?: string | undefined
  provider?: string | undefined
  key?: string | undefined
  tag?: string | undefined
  member?: string | undefined
  account?: string | undefined
}

export interface ExplorerSearch extends ExplorerFilter {
  /** Whole days in the time zone of the figures, both included. */
  from?: string | undefined
  to?: string | undefined
  by?: Dimension | undefined
  split?: Dimension | undefined
  every?: Interval | undefined
  measure?: ExplorerMeasure | undefined
  /** Shows the days before beside each figure. */
  compare?: 'previous' | undefined
  /** The organization whose usage is shown; the account's own when absent. */
  organization?: string | undefined
}

const texts = textsIn(
  'model',
  'provider',
  'key',
  'tag',
  'member',
  'account',
  'organization',
  'from',
  'to',
)

const dayIn = (value: string | undefined) =>
  value !== undefined && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined

/** Reads the search parameters of the explorer. */
export function toExplorerSearch(search: Search): ExplorerSearch {
  const { from, to, ...filter } = texts(search)
  return {
    ...filter,
    from: dayIn(from),
    to: dayIn(to),
    by: oneOf(search, 'by', dimensions),
    split: oneOf(search, 'split', dimensions),
    every: oneOf(search, 'every', intervals),
    measure: oneOf(search, 'measure', explorerMeasures),
    compare: oneOf(search, 'compare', ['previous'] as const),
  }
}

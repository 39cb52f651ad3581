import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { formatPercents, usualPercents } from './percents'

/** The budgets of the account and of its keys, with what the current window has used. */
export const budgetsQuery = queryOptions({
  queryKey: ['budgets'],
  queryFn: async () => (await bodyOf(api.GET('/api/account/budgets'))).budgets,
})

export type Budget = Schemas['Budget']
export type Window = Budget['window']

export const windowNames: Readonly<Record<Window, string>> = {
  hour: 'Hour',
  day: 'Day',
  week: 'Week',
  month: 'Month',
  quarter: 'Quarter',
  year: 'Year',
  total: 'Total, never resets',
}

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

/** The fields of the form. */
export interface BudgetFields {
  name: string
  /** Empty for the whole account. */
  key_id: string
  unit: Budget['unit']
  amount: number | string
  /** Empty for all. */
  models: string[]
  providers: string[]
  tags: string[]
  window: Window
  time_zone: string
  first_weekday: Budget['first_weekday']
  enforcement: Budget['enforcement']
  /** As they are entered. */
  notify_percents: string
}

/** Returns the fields of a new budget, in the time zone of this browser. */
export const newFields = (): BudgetFields => ({
  name: '',
  key_id: '',
  unit: 'usd',
  amount: '',
  models: [],
  providers: [],
  tags: [],
  window: 'month',
  time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
  first_weekday: 'monday',
  enforcement: 'hard',
  notify_percents: usualPercents.hard,
})

/** Returns the fields of a budget that is changed. */
export const toFields = (budget: Budget): BudgetFields => ({
  name: budget.name,
  key_id: budget.key_id ?? '',
  unit: budget.unit,
  amount: budget.amount,
  models: budget.models ?? [],
  providers: budget.providers ?? [],
  tags: budget.tags ?? [],
  window: budget.window,
  time_zone: budget.time_zone,
  first_weekday: budget.first_weekday,
  enforcement: budget.enforcement,
  notify_percents: formatPercents(budget.notify_percents),
})

/** Returns the percentage of a budget that is used, above 100 where a soft one is exceeded; 100 for one of nothing. */
export const shareOf = ({ used, amount }: Pick<Budget, 'used' | 'amount'>): number =>
  amount === 0 ? 100 : (100 * used) / amount

/** Returns the requests that a budget counts, in words; undefined for all of its account or key. */
export function filterText({
  models,
  providers,
  tags,
}: Pick<Budget, 'models' | 'providers' | 'tags'>): string | undefined {
  const parts = [
    models && `Models ${models.join(', ')}`,
    providers && `Providers ${providers.join(', ')}`,
    tags && `Tags ${tags.join(', ')}`,
  ].filter((part) => part !== null)
  return parts.length === 0 ? undefined : parts.join('; ')
}

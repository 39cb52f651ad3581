import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

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
  window: Window
  time_zone: string
  first_weekday: Budget['first_weekday']
}

/** Returns the fields of a new budget, in the time zone of this browser. */
export const newFields = (): BudgetFields => ({
  name: '',
  key_id: '',
  unit: 'usd',
  amount: '',
  window: 'month',
  time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
  first_weekday: 'monday',
})

/** Returns the share of a budget that is used, 0 to 100; 100 for one of nothing. */
export const shareOf = ({ used, amount }: Pick<Budget, 'used' | 'amount'>): number =>
  amount === 0 ? 100 : Math.min(100, (100 * used) / amount)

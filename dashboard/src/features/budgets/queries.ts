import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { formatPercents, usualPercents } from './percents'

/** The budgets of the account and its keys, and those of organizations that bind it, with what the current window has used. */
export const budgetsQuery = queryOptions({
  queryKey: ['budgets'],
  queryFn: async () => bodyOf(api.GET('/api/account/budgets')),
})

/** The budgets of an organization that its reader sees. */
export const organizationBudgetsQuery = (id: string) =>
  queryOptions({
    queryKey: ['organizations', id, 'budgets'],
    queryFn: async () =>
      (await bodyOf(api.GET('/api/organizations/{id}/budgets', { params: { path: { id } } })))
        .budgets,
  })

export type OrganizationBudget = Schemas['OrganizationBudget']

/** A budget, whatever it applies to. */
export type Budget = Omit<Schemas['Budget'], 'key_id'>
export type Window = Budget['window']

/** The fields that a change sends, and a new budget besides its filter and its unit. */
type SentTerms = Pick<Budget, 'name' | 'amount' | 'window' | 'time_zone' | 'first_weekday'> &
  Pick<Budget, 'enforcement' | 'notify_percents'>
/** Of a change: an override only where it is another one. */
type ChangedTerms = SentTerms & Pick<Schemas['ChangedBudget'], 'override'>
type NewTerms = SentTerms & Pick<Budget, 'unit' | 'models' | 'providers' | 'tags'>

/** How the budgets of an account, or of an organization, are changed. `subject` is what a new one applies to. */
export interface BudgetActions {
  create: (terms: NewTerms, subject: string) => Promise<unknown>
  change: (id: string, terms: ChangedTerms) => Promise<unknown>
  remove: (id: string) => Promise<unknown>
}

/** The budgets of the account; a subject is the ID of a key, or empty. */
export const accountBudgets: BudgetActions = {
  create: (terms, subject) =>
    api.POST('/api/account/budgets', { body: { ...terms, key_id: subject || null } }),
  change: (budget_id, body) =>
    api.PATCH('/api/account/budgets/{budget_id}', { params: { path: { budget_id } }, body }),
  remove: (budget_id) =>
    api.DELETE('/api/account/budgets/{budget_id}', { params: { path: { budget_id } } }),
}

/** Returns the subject of a department: it is no ID of an account. */
export const toDepartmentSubject = (name: string) => `department ${name}`

/** Returns the fields of a new budget of an organization by its subject: a member's ID, a department's, or empty. */
function toSubjectFields(subject: string) {
  const prefix = toDepartmentSubject('')
  return subject.startsWith(prefix)
    ? { department: subject.slice(prefix.length) }
    : { member_id: subject || null }
}

/** Returns the changes of the budgets of an organization. */
export const organizationBudgets = (id: string): BudgetActions => ({
  create: (terms, subject) =>
    api.POST('/api/organizations/{id}/budgets', {
      params: { path: { id } },
      body: { ...terms, ...toSubjectFields(subject) },
    }),
  change: (budget_id, body) =>
    api.PATCH('/api/organizations/{id}/budgets/{budget_id}', {
      params: { path: { id, budget_id } },
      body,
    }),
  remove: (budget_id) =>
    api.DELETE('/api/organizations/{id}/budgets/{budget_id}', {
      params: { path: { id, budget_id } },
    }),
})

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
  /** Empty for the whole account or organization. */
  subject: string
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
  /** Of an override; empty for none. */
  override_amount: number | string
  /** The local time of this browser at which it ends, as its input has it. */
  override_until: string
}

/** Returns the fields of a new budget, in the time zone of this browser. */
export const newFields = (): BudgetFields => ({
  name: '',
  subject: '',
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
  override_amount: '',
  override_until: '',
})

/** Returns the fields of a budget that is changed. */
export const toFields = (budget: Budget): BudgetFields => ({
  name: budget.name,
  subject: '',
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
  override_amount: budget.override?.amount ?? '',
  override_until: budget.override ? toLocalTime(budget.override.until) : '',
})

/** Returns a time as inputs of local times have it. */
function toLocalTime(time: string): string {
  const date = new Date(time)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** Returns the override that a change sends: null ends the one there is, undefined leaves it as it is. */
export function toSentOverride(
  { override_amount: amount, override_until: until }: BudgetFields,
  { override }: Pick<Budget, 'override'>,
) {
  if (amount === '') return override ? null : undefined
  const isSame = override?.amount === Number(amount) && toLocalTime(override.until) === until
  if (isSame) return undefined
  return { amount: Number(amount), until: new Date(until).toISOString() }
}

/** Returns the percentage of a budget that is used, above 100 where a soft one is exceeded; 100 for one of nothing. */
export const shareOf = ({
  used,
  amount_in_force: amount,
}: Pick<Budget, 'used' | 'amount_in_force'>): number => (amount === 0 ? 100 : (100 * used) / amount)

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

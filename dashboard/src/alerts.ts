import { queryOptions } from '@tanstack/react-query'
import { api } from './api'
import { oneOf, textOf, type Search } from './search'

export const alertsEndpoint = api.account.alerts

export const alertTypes = [
  'cost_threshold',
  'error_rate',
  'usage_spike',
  'quota_limit',
  'model_latency',
  'unusual_activity',
] as const
export type AlertType = (typeof alertTypes)[number]

export const periods = ['hour', 'day', 'week', 'month'] as const
export type Period = (typeof periods)[number]

export const periodNames: Readonly<Record<Period, string>> = {
  hour: 'the last hour',
  day: 'the last 24 hours',
  week: 'the last 7 days',
  month: 'the last 30 days',
}

interface Kind {
  label: string
  /** What it watches, and when it tells. */
  about: string
  /** What its threshold is, absent where it has none of its own. */
  threshold?: { label: string; hint: string; suffix: string; most?: number; usual: number }
  /** How many requests there must be before it tells, where it counts them. */
  leastRequests?: number
}

/** Source: contract 6.2. */
export const kinds: Readonly<Record<AlertType, Kind>> = {
  cost_threshold: {
    label: 'Cost',
    about: 'What your requests cost you, added up over the period.',
    threshold: { label: 'More than', hint: 'In USD', suffix: ' USD', usual: 10 },
  },
  error_rate: {
    label: 'Errors',
    about: 'The share of requests that failed. Cancelled ones do not count.',
    threshold: {
      label: 'More than',
      hint: 'Percent of the requests, 0 to 100',
      suffix: ' %',
      most: 100,
      usual: 10,
    },
    leastRequests: 10,
  },
  usage_spike: {
    label: 'More use than usual',
    about:
      'Requests of the period against the mean of the seven periods before it. It begins to tell when there are three of them.',
    threshold: {
      label: 'More than usual by',
      hint: 'Percent; 100 is twice as many',
      suffix: ' %',
      usual: 100,
    },
  },
  quota_limit: {
    label: 'Limits',
    about: 'How much of a limit of your account is used, whichever is used most.',
    threshold: {
      label: 'From',
      hint: 'Percent of a limit, 0 to 100',
      suffix: ' %',
      most: 100,
      usual: 80,
    },
  },
  model_latency: {
    label: 'Slow answers',
    about: 'How long requests that succeeded took on average, to the last byte.',
    threshold: { label: 'More than', hint: 'In milliseconds', suffix: ' ms', usual: 10_000 },
    leastRequests: 1,
  },
  unusual_activity: {
    label: 'Unusual activity',
    about:
      'Far more requests in the last hour than in the hours of the week before: three standard deviations above their mean. It needs a day of them first.',
  },
}

export const channelNames = { email: 'E-mail', dashboard: 'Inbox' } as const

/** A value that an alert measured, or its threshold, with its unit. */
export function shownValue(type: AlertType, value: number): string {
  const number = value.toLocaleString(undefined, { maximumFractionDigits: 9 })
  if (type === 'unusual_activity') return `${number} standard deviations above the mean`
  return `${number}${kinds[type].threshold?.suffix ?? ''}`
}

/** Which alerts are shown, and which one is open. */
export interface AlertSearch {
  type?: AlertType | undefined
  open?: string | undefined
}

export const toAlertSearch = (search: Search): AlertSearch => ({
  type: oneOf(search, 'type', alertTypes),
  open: textOf(search, 'open'),
})

/** All of them: an account has a hundred at most. */
export const alertsQuery = queryOptions({
  queryKey: ['alerts', 'list'],
  queryFn: async () => (await (await alertsEndpoint.$get({ query: {} })).json()).alerts,
})

export type ListedAlert = Awaited<ReturnType<NonNullable<typeof alertsQuery.queryFn>>>[number]

export const alertQuery = (id: string) =>
  queryOptions({
    queryKey: ['alerts', 'one', id],
    queryFn: async () =>
      (await alertsEndpoint[':alert_id'].$get({ param: { alert_id: id } })).json(),
  })

export type Alert = Awaited<ReturnType<NonNullable<ReturnType<typeof alertQuery>['queryFn']>>>

type Condition = Pick<ListedAlert, 'type' | 'threshold' | 'period'>

/** When an alert tells, in words. */
export function conditionOf({ type, threshold, period }: Condition): string {
  const { label, threshold: own } = kinds[type]
  if (!own) return label
  const condition = `${own.label.toLowerCase()} ${shownValue(type, threshold)}`
  return `${label}: ${condition} in ${periodNames[period]}`
}

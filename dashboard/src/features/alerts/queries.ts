import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { usd } from '../../format/money'
import { oneOf, textOf, type Search } from '../../url/search'

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
  /** The measure of an alert and the condition under which it triggers. */
  about: string
  /** The threshold field; absent when the type has no threshold of its own. */
  threshold?: { label: string; hint: string; suffix: string; max?: number; usual: number }
  /** The minimum number of requests before the alert can trigger, for types that count requests. */
  minRequests?: number
}

/** Source: contract 6.2. */
export const kinds: Readonly<Record<AlertType, Kind>> = {
  cost_threshold: {
    label: 'Cost',
    about: 'Total cost of your requests in the period, whichever account pays for them.',
    threshold: { label: 'More than', hint: 'In USD', suffix: ' USD', usual: 10 },
  },
  error_rate: {
    label: 'Errors',
    about: 'The share of requests that failed. Cancelled requests do not count.',
    threshold: {
      label: 'More than',
      hint: 'Percent of requests, 0 to 100',
      suffix: '%',
      max: 100,
      usual: 10,
    },
    minRequests: 10,
  },
  usage_spike: {
    label: 'Usage spike',
    about:
      'Requests in the period compared with the mean of the seven periods before it. Requires at least three earlier periods.',
    threshold: {
      label: 'Increase of more than',
      hint: 'Percent; 100 means twice as many',
      suffix: '%',
      usual: 100,
    },
  },
  quota_limit: {
    label: 'Limits',
    about:
      'Usage of the limit that is closest to being reached: your account’s limits, and your spending limits in organizations.',
    threshold: {
      label: 'At least',
      hint: 'Percent of a limit, 0 to 100',
      suffix: '%',
      max: 100,
      usual: 80,
    },
  },
  model_latency: {
    label: 'Latency',
    about: 'Average duration of successful requests, to the last byte.',
    threshold: { label: 'More than', hint: 'In milliseconds', suffix: ' ms', usual: 10_000 },
    minRequests: 1,
  },
  unusual_activity: {
    label: 'Unusual activity',
    about:
      'Far more requests in the last hour than in the hours of the week before: three standard deviations above their mean. Requires one day of data.',
  },
}

export const channelNames = { email: 'Email', dashboard: 'Inbox' } as const

/** Formats a measured value or a threshold of an alert with its unit. */
export function formatValue(type: AlertType, value: number): string {
  if (type === 'cost_threshold') return usd(value)
  const number = value.toLocaleString(undefined, { maximumFractionDigits: 9 })
  if (type === 'unusual_activity') return `${number} standard deviations above the mean`
  return `${number}${kinds[type].threshold?.suffix ?? ''}`
}

/** The filter of the alert list and the open alert. */
export interface AlertSearch {
  type?: AlertType | undefined
  open?: string | undefined
}

export const toAlertSearch = (search: Search): AlertSearch => ({
  type: oneOf(search, 'type', alertTypes),
  open: textOf(search, 'open'),
})

/** All alerts: an account has at most one hundred. */
export const alertsQuery = queryOptions({
  queryKey: ['alerts', 'list'],
  queryFn: async () =>
    (await bodyOf(api.GET('/api/account/alerts', { params: { query: {} } }))).alerts,
})

export type ListedAlert = Schemas['ListedAlert']

export const alertQuery = (id: string) =>
  queryOptions({
    queryKey: ['alerts', 'one', id],
    queryFn: async () =>
      bodyOf(api.GET('/api/account/alerts/{alert_id}', { params: { path: { alert_id: id } } })),
  })

export type Alert = Schemas['Alert']

type Condition = Pick<ListedAlert, 'type' | 'threshold' | 'period'>

/** Describes in words when an alert triggers. */
export function conditionOf({ type, threshold, period }: Condition): string {
  const { label, threshold: own } = kinds[type]
  if (!own) return label
  const condition = `${own.label.toLowerCase()} ${formatValue(type, threshold)}`
  return `${label}: ${condition} in ${periodNames[period]}`
}

/** The types of alerts, for a choice. */
export const typeNames = alertTypes.map((value) => ({ value, label: kinds[value].label }))

import type { AlertRow } from '../platform/db/alert-schema'

/** Source: contract 6.1. */
export const alertTypes = [
  'cost_threshold',
  'error_rate',
  'usage_spike',
  'quota_limit',
  'model_latency',
  'unusual_activity',
] as const satisfies readonly AlertRow['type'][]
export type AlertType = (typeof alertTypes)[number]

export const periods = [
  'hour',
  'day',
  'week',
  'month',
] as const satisfies readonly AlertRow['period'][]
export type AlertPeriod = (typeof periods)[number]

export const channels = ['email', 'dashboard'] as const
export type Channel = (typeof channels)[number]

export const isChannel = (name: string): name is Channel =>
  channels.some((channel) => channel === name)

export const hourMs = 3_600_000

/** The length of an alert's window. Source: contract 6.2. */
export const windowMs: Readonly<Record<AlertPeriod, number>> = {
  hour: hourMs,
  day: 24 * hourMs,
  week: 7 * 24 * hourMs,
  month: 30 * 24 * hourMs,
}

/** The requests that a type needs before it can trigger; null for types that need none. */
const leastRequests: Readonly<Record<AlertType, number | null>> = {
  cost_threshold: null,
  error_rate: 10,
  usage_spike: null,
  quota_limit: null,
  model_latency: 1,
  unusual_activity: null,
}

/** Returns how many requests an alert needs, null for a type that does not count them. */
export function getMinRequests(type: AlertType, asked: number | null): number | null {
  const usual = leastRequests[type]
  return usual === null ? null : (asked ?? usual)
}

/** The condition of an alert. */
export interface Rule {
  type: AlertType
  threshold: number
  period: AlertPeriod
  /** As the caller set it; null for the default of the type. */
  minRequests: number | null
}

/** Returns the length of the time that an alert looks back on. */
export const recentSpan = ({ type, period }: Pick<Rule, 'type' | 'period'>): number =>
  type === 'unusual_activity' ? hourMs : windowMs[period]

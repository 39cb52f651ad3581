import type { AlertRow } from '../platform/db/alert-schema'

export type AlertType = AlertRow['type']
export type AlertPeriod = AlertRow['period']

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
const minRequestsByType: Readonly<Record<AlertType, number | null>> = {
  cost_threshold: null,
  error_rate: 10,
  usage_spike: null,
  quota_limit: null,
  model_latency: 1,
  unusual_activity: null,
}

/** Returns how many requests an alert needs, null for a type that does not count them. */
export function getMinRequests(type: AlertType, requested: number | null): number | null {
  const usual = minRequestsByType[type]
  return usual === null ? null : (requested ?? usual)
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

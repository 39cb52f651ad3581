import { hourMs, getMinRequests, windowMs, type Rule } from './alert'

/** Sums of requests over some time. Costs are nano-dollars. */
export interface Sums {
  requests: number
  successes: number
  failures: number
  /** The latency of successful requests, in milliseconds. */
  latencyMs: number
  /** The usage cost: whichever account paid it. Source: contract 11.5. */
  cost: bigint
}

/** Requests by whole hours. */
export interface Hourly {
  /** The number of hours, including those without a request. */
  hours: number
  total: number
  /** The sum of the squares. */
  squares: number
}

/** A limit and how much of it was used; null means no limit. */
export interface QuotaUse {
  limit: number | null
  used: number
}

/** The measurements that the types are judged by; each type reads its own. */
export interface Measures {
  /** Of the window of the alert, or of the last hour for `unusual_activity`. */
  recent: Sums
  /** Requests of the windows before it, and the number of those windows. */
  before: { requests: number; windows: number }
  hourly: Hourly
  quotas: readonly QuotaUse[]
}

export interface Judgement {
  /** USD with 9 decimals, anything else with 2. */
  value: number
  isTrue: boolean
}

const maxWindowsBefore = 7
const minWindowsBefore = 3
const hoursBefore = 7 * 24
const minHours = 24
const unusualDeviations = 3

const round = (value: number, decimals: number) => Number(value.toFixed(decimals))
/** Returns a number that JSON and a column can hold: 0 where a division has no finite result. */
const sound = (value: number) => (Number.isFinite(value) ? round(value, 2) : 0)

type Formula = (rule: Rule, measures: Measures) => Judgement

const noValue: Judgement = { value: 0, isTrue: false }

/** Returns whether a mean is above the threshold and has enough requests behind it. */
const aboveWith = ({ rule, requests, value }: { rule: Rule; requests: number; value: number }) => ({
  value,
  isTrue: value > rule.threshold && requests >= (getMinRequests(rule.type, rule.minRequests) ?? 1),
})

const formulas: Readonly<Record<Rule['type'], Formula>> = {
  cost_threshold({ threshold }, { recent }) {
    const value = Number(recent.cost) / 1e9
    return { value, isTrue: value > threshold }
  },

  error_rate(rule, { recent: { successes, failures } }) {
    const requests = successes + failures
    if (requests === 0) return noValue
    return aboveWith({ rule, requests, value: sound((100 * failures) / requests) })
  },

  usage_spike({ threshold }, { recent: { requests }, before }) {
    const mean = before.requests / before.windows
    if (before.windows < minWindowsBefore || mean <= 0) return noValue
    const value = sound((100 * (requests - mean)) / mean)
    return { value, isTrue: value > threshold }
  },

  quota_limit({ threshold }, { quotas }) {
    const value = sound(Math.max(0, ...quotas.map(percentageOf)))
    return { value, isTrue: value >= threshold && value > 0 }
  },

  model_latency(rule, { recent: { successes, latencyMs } }) {
    if (successes === 0) return noValue
    return aboveWith({ rule, requests: successes, value: sound(latencyMs / successes) })
  },

  unusual_activity(_rule, { recent: { requests }, hourly: { hours, total, squares } }) {
    if (hours < minHours) return noValue
    const mean = total / hours
    // Rounding may bring the variance of equal counts below zero.
    const deviation = Math.sqrt(Math.max(0, squares / hours - mean * mean))
    const value = sound((requests - mean) / Math.max(deviation, 1))
    return { value, isTrue: value > unusualDeviations }
  },
}

function percentageOf({ limit, used }: QuotaUse): number {
  if (limit === null || used <= 0) return 0
  // Of a limit of zero, any usage is all.
  return limit === 0 ? 100 : (100 * used) / limit
}

/** Returns the value of an alert, and whether its condition is true. Source: contract 6.2. */
export const judge: Formula = (rule, measures) => formulas[rule.type](rule, measures)

/** Milliseconds since the epoch; from inclusive, to exclusive. */
export interface AlertWindow {
  fromMs: number
  toMs: number
}

/** Returns the windows of a spike's baseline that lie after the creation of the account: they adjoin. */
export function getBaselineWindows(period: Rule['period'], nowMs: number, createdMs: number) {
  const length = windowMs[period]
  const toMs = nowMs - length
  const windows = Math.max(0, Math.min(maxWindowsBefore, Math.floor((toMs - createdMs) / length)))
  return { windows, span: { fromMs: toMs - windows * length, toMs } satisfies AlertWindow }
}

const floorHour = (ms: number) => Math.floor(ms / hourMs) * hourMs
const ceilHour = (ms: number) => Math.ceil(ms / hourMs) * hourMs

/** Returns the whole hours of the 7 days before the last 60 minutes, since the creation of the account. */
export function getBaselineHours(nowMs: number, createdMs: number) {
  const toMs = floorHour(nowMs - hourMs)
  const fromMs = Math.min(toMs, Math.max(toMs - hoursBefore * hourMs, ceilHour(createdMs)))
  return { hours: (toMs - fromMs) / hourMs, span: { fromMs, toMs } satisfies AlertWindow }
}

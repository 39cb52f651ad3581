import type { Kysely } from 'kysely'
import { recentSpan, type AlertType } from './alert'
import { sumHoursWithin, sumRequestsSince, type SumStart } from './alert-sums'
import {
  getBaselineHours,
  getBaselineWindows,
  type Hourly,
  type Measures,
  type Sums,
} from './formulas'
import { readQuotaUse } from './quota-use'
import type { WatchedAlert } from './watched-alerts'
import type { Schema } from '../platform/db/schema'

export interface MeasuredMoment {
  nowMs: number
  /** Request logs from before this moment are gone. */
  logsSinceMs: number
}

const noSums: Sums = { requests: 0, successes: 0, failures: 0, latencyMs: 0, cost: 0n }
const noHours: Hourly = { hours: 0, total: 0, squares: 0 }

/** Measures some alerts, in their order: a few statements for all of them. */
export async function measure(
  db: Kysely<Schema>,
  alerts: readonly WatchedAlert[],
  moment: MeasuredMoment,
): Promise<Measures[]> {
  const sums = await readSums(db, alerts, moment)
  const hourly = await readHourly(db, alerts.filter(isOf('unusual_activity')), moment)
  const limited = alerts.filter(isOf('quota_limit'))
  const uses = await readQuotaUse(
    db,
    limited.map((alert) => ({ ...recentOf(alert, moment.nowMs), limits: alert.limits })),
    moment.logsSinceMs,
  )
  const quotas = new Map(limited.map((alert, index) => [alert, uses[index]]))
  return alerts.map((alert) => ({
    ...sums(alert),
    hourly: hourly.get(alert) ?? noHours,
    quotas: quotas.get(alert) ?? [],
  }))
}

/** Reads requests by hours of the week before. */
async function readHourly(
  db: Kysely<Schema>,
  alerts: readonly WatchedAlert[],
  { nowMs }: MeasuredMoment,
) {
  const requested = alerts.map((alert) => ({
    alert,
    userId: alert.userId,
    ...getBaselineHours(nowMs, alert.accountCreatedMs),
  }))
  const sums = await sumHoursWithin(db, requested)
  return new Map(
    requested.map(({ alert, hours }, index) => [alert, { ...noHours, ...sums[index], hours }]),
  )
}

const isOf = (type: AlertType) => (alert: WatchedAlert) => alert.type === type

const recentOf = (alert: WatchedAlert, nowMs: number): SumStart => ({
  userId: alert.userId,
  fromMs: nowMs - recentSpan(alert),
})

const keyOf = ({ userId, fromMs }: SumStart) => `${userId} ${fromMs}`

/** Sums requests until now since the start of each window, and of each baseline; several alerts may share one. */
async function readSums(
  db: Kysely<Schema>,
  alerts: readonly WatchedAlert[],
  { nowMs, logsSinceMs }: MeasuredMoment,
) {
  const requested = new Map<string, SumStart>()
  const baselineOf = ({ userId, period, accountCreatedMs }: WatchedAlert) => {
    const { windows, span } = getBaselineWindows(period, nowMs, accountCreatedMs)
    return { windows, start: { userId, fromMs: span.fromMs } }
  }
  for (const alert of alerts) {
    if (alert.type === 'quota_limit') continue
    const questions = [recentOf(alert, nowMs)]
    if (alert.type === 'usage_spike') questions.push(baselineOf(alert).start)
    for (const start of questions) requested.set(keyOf(start), start)
  }
  const sums = await sumRequestsSince(db, [...requested.values()], logsSinceMs)
  const byKey = new Map([...requested.keys()].map((key, index) => [key, sums[index] ?? noSums]))
  return (alert: WatchedAlert): Pick<Measures, 'recent' | 'before'> => {
    const recent = byKey.get(keyOf(recentOf(alert, nowMs))) ?? noSums
    const { windows, start } = baselineOf(alert)
    const all = byKey.get(keyOf(start)) ?? recent
    return { recent, before: { windows, requests: all.requests - recent.requests } }
  }
}

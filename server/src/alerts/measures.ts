import type { Kysely } from 'kysely'
import { recentSpan, type AlertType } from './alert'
import { sumHoursWithin, sumRequestsSince, type Since } from './alert-sums'
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
  logsKeptSinceMs: number
}

const noSums: Sums = { requests: 0, successes: 0, failures: 0, latencyMs: 0, ownCost: 0n }
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
    moment.logsKeptSinceMs,
  )
  const quotas = new Map(limited.map((alert, place) => [alert, uses[place]]))
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
  const asked = alerts.map((alert) => ({
    alert,
    userId: alert.userId,
    ...getBaselineHours(nowMs, alert.accountCreatedMs),
  }))
  const found = await sumHoursWithin(db, asked)
  return new Map(
    asked.map(({ alert, hours }, place) => [alert, { ...noHours, ...found[place], hours }]),
  )
}

const isOf = (type: AlertType) => (alert: WatchedAlert) => alert.type === type

const recentOf = (alert: WatchedAlert, nowMs: number): Since => ({
  userId: alert.userId,
  fromMs: nowMs - recentSpan(alert),
})

const keyOf = ({ userId, fromMs }: Since) => `${userId} ${fromMs}`

/** Sums requests until now since the start of each window, and of each baseline; several alerts may share one. */
async function readSums(
  db: Kysely<Schema>,
  alerts: readonly WatchedAlert[],
  { nowMs, logsKeptSinceMs }: MeasuredMoment,
) {
  const asked = new Map<string, Since>()
  const baselineOf = ({ userId, period, accountCreatedMs }: WatchedAlert) => {
    const { windows, span } = getBaselineWindows(period, nowMs, accountCreatedMs)
    return { windows, since: { userId, fromMs: span.fromMs } }
  }
  for (const alert of alerts) {
    if (alert.type === 'quota_limit') continue
    const questions = [recentOf(alert, nowMs)]
    if (alert.type === 'usage_spike') questions.push(baselineOf(alert).since)
    for (const since of questions) asked.set(keyOf(since), since)
  }
  const found = await sumRequestsSince(db, [...asked.values()], logsKeptSinceMs)
  const byKey = new Map([...asked.keys()].map((key, place) => [key, found[place] ?? noSums]))
  return (alert: WatchedAlert): Pick<Measures, 'recent' | 'before'> => {
    const recent = byKey.get(keyOf(recentOf(alert, nowMs))) ?? noSums
    const { windows, since } = baselineOf(alert)
    const all = byKey.get(keyOf(since)) ?? recent
    return { recent, before: { windows, requests: all.requests - recent.requests } }
  }
}

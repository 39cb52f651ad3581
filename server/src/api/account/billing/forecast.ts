import { sql, type Kysely, type Transaction } from 'kysely'
import type { BilledAccount } from './billed-account'
import type { ForecastFilter, SpendForecast } from './forecast-schema'
import { monthAt, readMonth } from './statement-month'
import { paid, readAccount, sumUsageSince, usageOf } from './statement-sources'
import { ApiError } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import type { Schema } from '../../../platform/db/schema'
import { toUsd } from '../../../wire/usd'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const paceDays = 7
/** With usage on fewer days there is no pace to continue. */
const minDays = 3
/** A balance that lasts longer has no end worth naming. */
const maxLastingMs = 366 * dayMs

/** A sum that a balance paid over the last days, in nano-dollars. */
interface Pace {
  cost: bigint
  days: number
}

/** Sums that a balance paid in each of the last seven times 24 hours, the oldest first, and whether it had paid before. */
interface RecentCosts {
  byDay: readonly bigint[]
  hadEarlier: boolean
}

/**
 * Returns the pace of the last seven days; of an account that first paid within them, since that day. Undefined where
 * fewer than three days have usage.
 */
export function computePace({ byDay, hadEarlier }: RecentCosts): Pace | undefined {
  if (byDay.filter((cost) => cost > 0n).length < minDays) return undefined
  const days = hadEarlier ? byDay.length : byDay.length - byDay.findIndex((cost) => cost > 0n)
  return { cost: byDay.reduce((sum, cost) => sum + cost, 0n), days }
}

interface Continuing {
  /** Nano-dollars that were paid this month, and that are left. */
  spent: bigint
  balance: bigint
  nowMs: number
  monthEndMs: number
}

/** Continues a pace to the end of the month, and to that of the balance. Amounts are rounded down to nano-dollars. */
export function continuePace(
  { cost, days }: Pace,
  { spent, balance, nowMs, monthEndMs }: Continuing,
): { dailyAverage: bigint; monthTotal: bigint; lastsUntil: Date | undefined } {
  const paceMs = BigInt(days) * BigInt(dayMs)
  const lastsMs = (balance * paceMs) / cost
  return {
    dailyAverage: cost / BigInt(days),
    monthTotal: spent + (cost * BigInt(Math.max(0, monthEndMs - nowMs))) / paceMs,
    lastsUntil: lastsMs > BigInt(maxLastingMs) ? undefined : new Date(nowMs + Number(lastsMs)),
  }
}

interface Reading {
  filter: Pick<ForecastFilter, 'time_zone'>
  nowMs: number
}

/**
 * Forecasts what a balance pays this month and when it is spent, from the sums of usage by hour. Rejects with
 * `invalid_request` for a time zone that is not whole hours from UTC. Source: contract 6.7.
 */
export async function readForecast(
  db: Kysely<Schema>,
  account: BilledAccount,
  { filter: { time_zone: zone }, nowMs }: Reading,
): Promise<SpendForecast> {
  const month = { month: monthAt(zone, nowMs), time_zone: zone }
  const { starts, end } = await readMonth(db, month, nowMs)
  const start = starts[0] ?? end
  const until = new Date(Math.floor(nowMs / hourMs) * hourMs)
  const { posted, spent, recent } = await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => ({
      posted: (await readAccount(trx, account))?.posted,
      spent: await sumUsageSince(trx, account, start),
      recent: await readRecent(trx, account, until),
    }))
  if (posted === undefined) throw new ApiError('resource_not_found')
  const pace = computePace(recent)
  const monthEndMs = end.getTime()
  return {
    organization_id: account.organizationId,
    currency: 'USD',
    period: { start: toTimestamp(start), end: toTimestamp(end), time_zone: zone },
    spent: toUsd(spent),
    forecast: pace
      ? toForecast(pace, until, continuePace(pace, { spent, balance: posted, nowMs, monthEndMs }))
      : null,
  }
}

function toForecast(
  { days }: Pace,
  until: Date,
  { dailyAverage, monthTotal, lastsUntil }: ReturnType<typeof continuePace>,
): SpendForecast['forecast'] {
  return {
    since: toTimestamp(new Date(until.getTime() - days * dayMs)),
    until: toTimestamp(until),
    days,
    daily_average: toUsd(dailyAverage),
    month_total: toUsd(monthTotal),
    lasts_until: lastsUntil ? toTimestamp(lastsUntil) : null,
  }
}

/** Reads what a balance paid in the seven times 24 hours before a full hour. */
async function readRecent(
  trx: Transaction<Schema>,
  account: BilledAccount,
  until: Date,
): Promise<RecentCosts> {
  const starts = Array.from(
    { length: paceDays },
    (_, index) => new Date(until.getTime() - (paceDays - index) * dayMs),
  )
  const [start = until] = starts
  const { rows } = await sql<{ day: number; cost: bigint }>`
    select width_bucket(starts_at, ${starts}::timestamptz[]) as day, sum(${paid})::bigint as cost
    from usage_sum
    where ${usageOf(account)} and grain = 'hour' and starts_at >= ${start} and starts_at < ${until}
    group by 1`.execute(trx)
  const earlier = await sql<{ had: boolean }>`
    select exists (
      select from usage_sum
      where ${usageOf(account)} and grain = 'day' and ${paid} > 0
        and starts_at < date_trunc('day', ${start}::timestamptz, 'UTC')
    ) as had`.execute(trx)
  const costs = new Map(rows.map(({ day, cost }) => [day, cost]))
  return {
    byDay: starts.map((_, index) => costs.get(index + 1) ?? 0n),
    hadEarlier: earlier.rows[0]?.had ?? false,
  }
}

import { sql, type Kysely } from 'kysely'
import { usageCost } from '../ledger/usage-cost'
import type { Schema } from '../platform/db/schema'
import { toUsd } from '../wire/usd'

interface Sums {
  key_id: string
  spend_today: bigint
  spend_this_month: bigint
  requests_today: bigint
  requests_this_month: bigint
}

/** The usage of a key on the current day and in the current month, in UTC. */
export interface KeyUsage {
  spend_today: number
  spend_this_month: number
  requests_today: number
  requests_this_month: number
}

export const noUsage: KeyUsage = {
  spend_today: 0,
  spend_this_month: 0,
  requests_today: 0,
  requests_this_month: 0,
}

/**
 * Reads the usage of an account's keys from the sums by day of one month, counted as the monthly limit of a key counts
 * it: the payments of any account, and those that the house took over.
 */
export async function readKeyUsage(
  db: Kysely<Schema>,
  userId: string,
  now = new Date(),
): Promise<Map<string, KeyUsage>> {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const monthStart = new Date(Date.UTC(year, month))
  const today = new Date(Date.UTC(year, month, now.getUTCDate()))
  const { rows } = await sql<Sums>`
    select key_id,
      coalesce(sum(${usageCost}) filter (where starts_at >= ${today}), 0)::bigint as spend_today,
      sum(${usageCost})::bigint as spend_this_month,
      coalesce(sum(requests) filter (where starts_at >= ${today}), 0)::bigint as requests_today,
      sum(requests)::bigint as requests_this_month
    from usage_sum
    where user_id = ${userId} and grain = 'day' and starts_at >= ${monthStart}
    group by key_id`.execute(db)
  return new Map(rows.map((row) => [row.key_id, toUsage(row)]))
}

const toUsage = (row: Sums): KeyUsage => ({
  spend_today: toUsd(row.spend_today),
  spend_this_month: toUsd(row.spend_this_month),
  requests_today: Number(row.requests_today),
  requests_this_month: Number(row.requests_this_month),
})

import { sql, type Kysely } from 'kysely'
import { findWindowEnds, type RetainedSums } from './window-ends'
import { purgeRows } from '../platform/db/purge-rows'
import { dropPartitions, getToday } from '../platform/db/partitions'
import type { Schema } from '../platform/db/schema'

const dayMs = 86_400_000
const minuteSumDays = 2
const hourSumDays = 90

/** The partitions and rows that were purged. */
export interface PurgedRows {
  partitions: string[]
  leases: number
  sums: number
}

/**
 * Purges usage events and ended leases of more than `days` full days ago, sums by minute of more than 2 days and
 * by quarter of an hour and hour of more than 90, apart from those that budgets read. Sums by day, and the ledger, stay.
 */
export async function purgeOldRows(db: Kysely<Schema>, days: number): Promise<PurgedRows> {
  const day = (await getToday(db)).getTime()
  const retainedSince = new Date(day - days * dayMs)
  const partitions = await dropOldPartitions(db, retainedSince)
  const leases = await purgeRows(
    db,
    'credit_lease',
    sql`state <> 'active' and created_at < ${retainedSince}`,
  )
  // Held amounts of leases that ended before their node published that nothing is held.
  await purgeRows(
    db,
    'credit_held',
    sql`not exists (select from credit_lease where id = lease_id and state = 'active')`,
  )
  const retainedSums = await findWindowEnds(db, Date.now())
  let sums = 0
  for (const table of ['usage_sum', 'usage_tag_sum'] as const) {
    const purge = (grain: 'minute' | 'hour', days: number) =>
      purgeRows(db, table, sumsBefore({ table, grain, beforeMs: day - days * dayMs }, retainedSums))
    sums += await purge('minute', minuteSumDays)
    sums += await purge('hour', hourSumDays)
  }
  // Days of time zones that are not whole hours from UTC are read from both.
  sums += await purgeRows(
    db,
    'usage_sum',
    sql`grain = 'quarter_hour' and starts_at < ${new Date(day - hourSumDays * dayMs)}`,
  )
  return { partitions, leases, sums }
}

interface OldSums {
  table: 'usage_sum' | 'usage_tag_sum'
  grain: 'minute' | 'hour'
  beforeMs: number
}

const sumsBefore = ({ table, grain, beforeMs }: OldSums, retainedSums: readonly RetainedSums[]) => {
  const keptSums = retainedSums.filter((sums) => sums.grain === grain && sums.fromMs < beforeMs)
  const old = sql`grain = ${grain} and starts_at < ${new Date(beforeMs)}`
  if (keptSums.length === 0) return old
  return sql`${old} and not exists (
    select from unnest(
      ${keptSums.map(({ userId }) => userId)}::text[],
      ${keptSums.map(({ payerId }) => payerId)}::text[],
      ${keptSums.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
      ${keptSums.map(({ toMs }) => new Date(toMs))}::timestamptz[]
    ) as kept (user_id, payer_id, from_time, to_time)
    where (kept.user_id = ${sql.table(table)}.user_id or kept.payer_id = account_id)
      and starts_at >= from_time and starts_at < to_time
  )`
}

/**
 * Drops the partitions of the days before. In the same transaction it sets `retainedSince`, from which on the audit
 * compares with events.
 */
const dropOldPartitions = (db: Kysely<Schema>, retainedSince: Date): Promise<string[]> =>
  db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = '2s'`.execute(trx)
    const old = await dropPartitions(trx, 'usage_event', retainedSince)
    await sql`update audit set kept_since = greatest(kept_since, ${retainedSince})`.execute(trx)
    await sql`delete from audit_late where created_at < ${retainedSince}`.execute(trx)
    return old
  })

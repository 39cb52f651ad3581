import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'

const rowsPerStatement = 5000
const maxStatements = 100
const recentTriggers = 10

/**
 * Purges notifications after 90 days, triggers of the same age that are not among the last ten of their alert, and
 * mails a week after they were sent or given up, deliveries after 30 days. Resolves with the count.
 */
export async function purgeNotices(db: Kysely<Schema>): Promise<number> {
  const old = sql`now() - interval '90 days'`
  const notifications = await purge(
    db,
    sql`delete from notification where id in (
      select id from notification where created_at < ${old} limit ${rowsPerStatement}
    )`,
  )
  const triggers = await purge(
    db,
    sql`delete from alert_trigger where id in (
      select id from alert_trigger as old
      where triggered_at < ${old} and id < (
        select id from alert_trigger where alert_id = old.alert_id
        order by id desc offset ${recentTriggers - 1} limit 1
      )
      limit ${rowsPerStatement}
    )`,
  )
  const mails = await purge(
    db,
    sql`delete from mail where id in (
      select id from mail where coalesce(sent_at, failed_at) < now() - interval '7 days'
      limit ${rowsPerStatement}
    )`,
  )
  const deliveries = await purge(
    db,
    sql`delete from notification_delivery where id in (
      select id from notification_delivery where created_at < now() - interval '30 days'
      limit ${rowsPerStatement}
    )`,
  )
  return notifications + triggers + mails + deliveries
}

/** Deletes in small statements, so that row locks stay short. */
async function purge(db: Kysely<Schema>, statement: ReturnType<typeof sql>): Promise<number> {
  let forgotten = 0
  for (let turn = 0; turn < maxStatements; turn++) {
    const { numAffectedRows = 0n } = await statement.execute(db)
    forgotten += Number(numAffectedRows)
    if (numAffectedRows < rowsPerStatement) break
  }
  return forgotten
}

import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'

const rowsAtOnce = 5000
const statementsAtOnce = 100
const recentTriggers = 10

/**
 * Purges notifications after 90 days, triggers of the same age that are not among the last ten of their alert, and
 * mails a week after they were sent or given up. Resolves with the count.
 */
export async function purgeNotices(db: Kysely<Schema>): Promise<number> {
  const old = sql`now() - interval '90 days'`
  const notifications = await forget(
    db,
    sql`delete from notification where id in (
      select id from notification where created_at < ${old} limit ${rowsAtOnce}
    )`,
  )
  const triggers = await forget(
    db,
    sql`delete from alert_trigger where id in (
      select id from alert_trigger as old
      where triggered_at < ${old} and id < (
        select id from alert_trigger where alert_id = old.alert_id
        order by id desc offset ${recentTriggers - 1} limit 1
      )
      limit ${rowsAtOnce}
    )`,
  )
  const mails = await forget(
    db,
    sql`delete from mail where id in (
      select id from mail where coalesce(sent_at, failed_at) < now() - interval '7 days'
      limit ${rowsAtOnce}
    )`,
  )
  return notifications + triggers + mails
}

/** Deletes in small statements, so that row locks stay short. */
async function forget(db: Kysely<Schema>, statement: ReturnType<typeof sql>): Promise<number> {
  let forgotten = 0
  for (let turn = 0; turn < statementsAtOnce; turn++) {
    const { numAffectedRows = 0n } = await statement.execute(db)
    forgotten += Number(numAffectedRows)
    if (numAffectedRows < rowsAtOnce) break
  }
  return forgotten
}

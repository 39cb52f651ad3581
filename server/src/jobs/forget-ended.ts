import { sql, type Kysely } from 'kysely'
import { forgetRows } from '../db/forget-rows'
import type { Schema } from '../db/schema'
import { keptMonths } from '../trail/organization-trail'

/** As long as the sums of request logs, so that both tell of the same time. */
const sharedSumMonths = 25

/**
 * Forgets sessions that ended, answers that were kept, conversations that are not used, and invitations that cannot be
 * answered any more, `days` full days after they did; what organizations used by day, of which their limits need the running month only,
 * and what was changed in them after 25 months; tries to sign in, and when gateways were online, after
 * a day; nodes that were killed after a week. Resolves with how many there were of each that anybody
 * asks for.
 */
export async function forgetEnded(db: Kysely<Schema>, days: number) {
  const old = sql`date_trunc('day', now(), 'UTC') - make_interval(days => ${days})`
  // A name that is given to it later counts: somebody still wants it.
  const ended = sql`status in ('completed', 'cancelled', 'failed') and updated_at < ${old}`
  // Messages first, as a statement that takes thousands of sessions with all of theirs would be long.
  await forgetRows(
    db,
    'automation_message',
    sql`session_id in (select id from automation_session where ${ended})`,
  )
  const sessions = await forgetRows(
    db,
    'automation_session',
    sql`${ended} and not exists (
      select from automation_message where session_id = automation_session.id
    )`,
  )
  const responses = await forgetRows(db, 'stored_response', sql`created_at < ${old}`)
  await forgetRows(db, 'conversation', sql`used_at < ${old}`)
  // Answered or not, none is open beyond that.
  const invitations = await forgetRows(db, 'invitation', sql`expires_at < ${old}`)
  const sums = await forgetRows(
    db,
    'organization_sum',
    sql`day < (
      date_trunc('month', now() at time zone 'UTC') - make_interval(months => ${sharedSumMonths})
    )::date`,
  )
  const changes = await forgetRows(
    db,
    'organization_trail',
    sql`created_at < now() - make_interval(months => ${keptMonths})`,
  )
  // No window of a rate of sign-in is longer than an hour; milliseconds.
  await forgetRows(
    db,
    'auth_rate_limit',
    sql`last_request < extract(epoch from now() - interval '1 day') * 1000`,
  )
  await forgetRows(db, 'gateway_hour', sql`hour < floor(extract(epoch from now()) / 3600) - 25`)
  // Of nodes that were killed while they waited.
  await forgetRows(db, 'credit_demand', sql`until < now() - interval '1 hour'`)
  // One that was killed takes its name along only where it had leases for the next start to find.
  await forgetRows(
    db,
    'node',
    sql`seen_at < now() - interval '7 days' and not exists (
      select from credit_lease where node_id = node.id and state = 'active'
    )`,
  )
  return { sessions, responses, invitations, sums, changes }
}

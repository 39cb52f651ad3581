import { sql, type Kysely } from 'kysely'
import { purgeRows } from '../platform/db/purge-rows'
import type { Schema } from '../platform/db/schema'
import { heldIds } from '../platform/db/legal-hold'

/** As long as the sums of request logs, so that both cover the same time. */
const sharedSumMonths = 25

/**
 * Purges ended sessions, stored answers, unused conversations, and invitations that can no longer be answered, `days`
 * full days after their end; the daily usage of organizations, of which their limits need the running month only, and
 * their audit log after its retention, unless a legal hold keeps it; what waits for deleted destinations; earlier secrets of keys when they expire; attempts to sign in, and the times gateways
 * were online, after a day; killed nodes after a week. Resolves with the counts that callers report.
 */
export async function purgeEnded(db: Kysely<Schema>, days: number) {
  const old = sql`date_trunc('day', now(), 'UTC') - make_interval(days => ${days})`
  // A later rename counts as use and restarts the time.
  const ended = sql`status in ('completed', 'cancelled', 'failed') and updated_at < ${old}`
  // Messages first, as one statement for thousands of sessions and all their messages would take long.
  await purgeRows(
    db,
    'automation_message',
    sql`session_id in (select id from automation_session where ${ended})`,
  )
  const sessions = await purgeRows(
    db,
    'automation_session',
    sql`${ended} and not exists (
      select from automation_message where session_id = automation_session.id
    )`,
  )
  const responses = await purgeRows(db, 'stored_response', sql`created_at < ${old}`)
  await purgeRows(db, 'conversation', sql`used_at < ${old}`)
  // After that none is open, answered or not.
  const invitations = await purgeRows(db, 'invitation', sql`expires_at < ${old}`)
  const sums = await purgeRows(
    db,
    'organization_sum',
    sql`day < (
      date_trunc('month', now() at time zone 'UTC') - make_interval(months => ${sharedSumMonths})
    )::date`,
  )
  const changes = await purgeAuditLogs(db)
  // No rate-limit window of sign-in is longer than an hour; milliseconds.
  await purgeRows(
    db,
    'auth_rate_limit',
    sql`last_request < extract(epoch from now() - interval '1 day') * 1000`,
  )
  await purgeRows(db, 'previous_secret', sql`expires_at < now()`)
  await purgeRows(db, 'gateway_hour', sql`hour < floor(extract(epoch from now()) / 3600) - 25`)
  // Left by nodes that were killed while they waited.
  await purgeRows(db, 'credit_demand', sql`until < now() - interval '1 hour'`)
  // Each node states its shares twice a minute.
  await purgeRows(db, 'limit_share', sql`stated_at < now() - interval '1 hour'`)
  // A killed node keeps its name while it has leases that its next start must find.
  await purgeRows(
    db,
    'node',
    sql`seen_at < now() - interval '7 days' and not exists (
      select from credit_lease where node_id = node.id and state = 'active'
    )`,
  )
  return { sessions, responses, invitations, sums, changes }
}

/** Purges audit logs of organizations, and what waits for deleted destinations. Resolves with the count of the former. */
async function purgeAuditLogs(db: Kysely<Schema>): Promise<number> {
  await purgeRows(
    db,
    'audit_outbox',
    sql`not exists (select from audit_destination where id = destination_id)`,
  )
  return purgeRows(
    db,
    'organization_trail',
    sql`created_at < now() - audit_retention(organization_id)
      and not (organization_id in ${heldIds} or actor in ${heldIds} or object_id in ${heldIds})`,
  )
}

import { sql, type Kysely } from 'kysely'
import { isChannel, type Channel, type Rule } from './alert'
import type { AlertState } from './alert-state'
import { accountScope, planLimits } from '../auth/account-limits'
import type { LimitScope } from '../limits/caller-limits'
import type { Schema } from '../platform/db/schema'

/** An enabled alert with the facts of its account that evaluation needs. */
export interface WatchedAlert extends Rule {
  id: string
  userId: string
  name: string
  channels: readonly Channel[]
  /** The destinations that get its triggers; null for all. */
  destinations: readonly string[] | null
  standing: AlertState
  revision: bigint
  accountCreatedMs: number
  /** Undefined until verified. */
  email: string | undefined
  limits: LimitScope
}

/** Finds the enabled alerts of some accounts. */
export async function findWatchedAlerts(
  db: Kysely<Schema>,
  userIds: readonly string[],
): Promise<WatchedAlert[]> {
  const rows = await db
    .selectFrom('alert')
    .innerJoin('users', 'users.id', 'alert.user_id')
    .innerJoin('plan', 'plan.id', 'users.plan_id')
    .selectAll('alert')
    .select(planLimits)
    .select([
      'users.limits',
      'users.email',
      'users.email_verified',
      'users.created_at as account_created_at',
    ])
    .where('alert.enabled', '=', true)
    .where('alert.user_id', 'in', userIds)
    .orderBy('alert.id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    name: row.name,
    type: row.type,
    threshold: row.threshold,
    period: row.period,
    minRequests: row.min_requests,
    channels: row.channels.filter(isChannel),
    destinations: row.destinations,
    standing: {
      armed: row.armed,
      falseSinceMs: row.false_since?.getTime() ?? null,
      lastTriggeredMs: row.last_triggered_at?.getTime() ?? null,
    },
    revision: row.revision,
    accountCreatedMs: row.account_created_at.getTime(),
    email: row.email_verified ? row.email : undefined,
    limits: accountScope(row.user_id, row),
  }))
}

/** Finds accounts after `after` that have enabled alerts or budgets that notify, or own an organization that has, by their ids. */
export async function findWatchedAccounts(
  db: Kysely<Schema>,
  after: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`
    select user_id from (
      (
        select distinct user_id from alert where enabled and user_id > ${after}
        order by user_id limit ${limit}
      )
      union
      (
        select distinct user_id from budget where notify_percents <> '{}' and user_id > ${after}
        order by user_id limit ${limit}
      )
      union
      (
        select user_id from membership
        where role = 'owner' and user_id > ${after} and exists (
          select from organization_budget as budget
          where budget.organization_id = membership.organization_id and notify_percents <> '{}'
        )
        order by user_id limit ${limit}
      )
    ) as watched
    order by user_id limit ${limit}`.execute(db)
  return rows.map(({ user_id }) => user_id)
}

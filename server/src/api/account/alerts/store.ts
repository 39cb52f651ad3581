import type { Kysely } from 'kysely'
import { requireRow, lockAccount } from '../../../platform/db/account-row'
import { toAlert, toCreated, toListed, toTrigger, type AlertListRow } from './answer'
import {
  findAlertConflict,
  maxAlerts,
  type AlertFilter,
  type ChangedAlert,
  type NewAlert,
} from './schema'
import { createAlertTest, type AlertTestOptions } from './test-notice'
import { getMinRequests } from '../../../alerts/alert'
import { fresh } from '../../../alerts/alert-state'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { present } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'

const maxRecent = 10

export type AlertStore = ReturnType<typeof createAlertStore>

/** The alerts of accounts. All reject with `resource_not_found` for unknown and foreign ids. */
export function createAlertStore(options: AlertTestOptions) {
  const { db } = options
  return {
    list: (userId: string, page: Page, filter: AlertFilter) =>
      listAlerts(db, userId, { page, filter }),
    create: async (userId: string, alert: NewAlert) => toCreated(await insert(db, userId, alert)),
    get: async (userId: string, id: string) => toAnswer(db, await findRow(db, userId, id)),
    change: (userId: string, id: string, fields: ChangedAlert) =>
      db.transaction().execute(async (trx) => {
        const current = await findRow(trx, userId, id, 'locked')
        return toAnswer(trx, await change(trx, current, fields))
      }),
    async delete(userId: string, id: string) {
      await findRow(db, userId, id)
      await db.deleteFrom('alert').where('id', '=', id).where('user_id', '=', userId).execute()
      return { success: true as const, message: 'The alert was deleted.' }
    },
    test: createAlertTest(options),
    async acknowledge(userId: string, id: string, triggerId: string) {
      await findRow(db, userId, id)
      const row = await requireRow('trg', triggerId, () =>
        db
          .updateTable('alert_trigger')
          .set({ acknowledged: true })
          .where('id', '=', triggerId)
          .where('alert_id', '=', id)
          .returningAll()
          .executeTakeFirst(),
      )
      return toTrigger(row)
    },
  }
}

interface AlertListing {
  page: Page
  filter: AlertFilter
}

async function listAlerts(
  db: Kysely<Schema>,
  userId: string,
  { page, filter: { type, enabled } }: AlertListing,
) {
  const query = db
    .selectFrom('alert')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(type !== undefined, (all) => all.where('type', '=', type ?? 'cost_threshold'))
    .$if(enabled !== undefined, (all) => all.where('enabled', '=', enabled ?? false))
  const { items: rows, pagination } = await queryPage(db, query, { page })
  return { alerts: rows.map(toListed), pagination }
}

/** Counts are exact for concurrent requests too: they wait at the row of their account. */
const insert = (db: Kysely<Schema>, userId: string, alert: NewAlert): Promise<AlertListRow> =>
  db.transaction().execute(async (trx) => {
    await lockAccount(trx, userId)
    const { total } = await trx
      .selectFrom('alert')
      .where('user_id', '=', userId)
      .select(({ fn }) => fn.countAll<bigint>().as('total'))
      .executeTakeFirstOrThrow()
    if (total >= maxAlerts) {
      throw invalidRequest(null, 'limit_reached', `An account has at most ${maxAlerts} alerts.`)
    }
    const { notification_channels, notification_destinations: destinations, ...fields } = alert
    await checkDestinations(trx, userId, destinations)
    const now = new Date()
    return trx
      .insertInto('alert')
      .values({
        ...fields,
        id: newId('alert'),
        user_id: userId,
        channels: notification_channels,
        destinations: destinations ?? null,
        min_requests: effectiveMinRequests(alert),
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  })

/** A field that the type does not use is not stored, so that a later type does not inherit it. */
const effectiveMinRequests = ({
  type,
  min_requests,
}: Pick<AlertListRow, 'type' | 'min_requests'>) =>
  getMinRequests(type, min_requests) === null ? null : min_requests

async function findRow(
  db: Kysely<Schema>,
  userId: string,
  ...[id, lock]: [id: string, lock?: 'locked']
): Promise<AlertListRow> {
  return requireRow('alert', id, () =>
    db
      .selectFrom('alert')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .$if(lock === 'locked', (query) => query.forUpdate())
      .executeTakeFirst(),
  )
}

async function change(
  trx: Kysely<Schema>,
  current: AlertListRow,
  fields: ChangedAlert,
): Promise<AlertListRow> {
  const {
    notification_channels,
    notification_destinations: destinations,
    ...plain
  } = present(fields)
  await checkDestinations(trx, current.user_id, destinations)
  const next = { ...current, ...plain }
  const conflict = findAlertConflict(next)
  if (conflict) {
    throw invalidRequest('threshold', conflict.params.issue, `threshold: ${conflict.message}`)
  }
  return trx
    .updateTable('alert')
    .set(({ eb }) => ({
      ...plain,
      ...(notification_channels && { channels: notification_channels }),
      ...(destinations !== undefined && { destinations }),
      min_requests: effectiveMinRequests(next),
      ...(isReset(current, next) && { armed: fresh.armed, false_since: fresh.falseSinceMs }),
      revision: eb('revision', '+', 1n),
      updated_at: new Date(),
    }))
    .where('id', '=', current.id)
    .where('user_id', '=', current.user_id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Keeps destinations until the transaction ends. Rejects with `invalid_request` unless all of them are the account's. */
async function checkDestinations(
  trx: Kysely<Schema>,
  userId: string,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  if (!ids || ids.length === 0) return
  const rows = await trx
    .selectFrom('notification_destination')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', 'in', ids)
    .forKeyShare()
    .execute()
  const unknown = ids.findIndex((id) => !rows.some((row) => row.id === id))
  if (unknown === -1) return
  const field = `notification_destinations.${unknown}`
  throw invalidRequest(field, 'unknown_value', `${field}: no destination of your account.`)
}

/** Whether a change resets the condition to false. Source: contract 6.2. */
const isReset = (current: AlertListRow, next: AlertListRow): boolean =>
  (next.enabled && !current.enabled) ||
  next.type !== current.type ||
  next.threshold !== current.threshold ||
  next.period !== current.period

async function toAnswer(db: Kysely<Schema>, row: AlertListRow) {
  const triggers = await db
    .selectFrom('alert_trigger')
    .selectAll()
    .where('alert_id', '=', row.id)
    .orderBy('id', 'desc')
    .limit(maxRecent)
    .execute()
  return toAlert(row, triggers)
}

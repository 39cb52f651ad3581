import { sql, type Kysely } from 'kysely'
import { toDelivery, type StoredDestination } from './answer'
import { ApiError, invalidRequest } from '../../../errors'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import type { Deliver } from '../../../notifications/deliver'
import { addDelivery, testEvent } from '../../../notifications/events'
import { lockAccount, requireRow } from '../../../platform/db/account-row'
import type { Schema } from '../../../platform/db/schema'

const testsPerHour = 30
const windowSeconds = 3600
/** Longer than an attempt lasts. */
const leaseMs = 60_000

/** Lists the deliveries of a destination of the caller, newest first. */
export async function listDeliveries(
  db: Kysely<Schema>,
  destination: StoredDestination,
  page: Page,
) {
  const query = db
    .selectFrom('notification_delivery')
    .selectAll()
    .where('destination_id', '=', destination.id)
  const { items, pagination } = await queryPage(db, query, { page })
  return { deliveries: items.map(toDelivery), pagination }
}

const findDelivery = (db: Kysely<Schema>, destination: StoredDestination, id: string) =>
  requireRow('dlv', id, () =>
    db
      .selectFrom('notification_delivery')
      .selectAll()
      .where('id', '=', id)
      .where('destination_id', '=', destination.id)
      .executeTakeFirst(),
  )

/** Makes a delivery due at once, for three days from now. Rejects with `invalid_request` when it was delivered. */
export async function retryDelivery(
  db: Kysely<Schema>,
  destination: StoredDestination,
  id: string,
) {
  const current = await findDelivery(db, destination, id)
  if (current.status === 'delivered') {
    throw invalidRequest(null, 'wrong_state', 'The delivery has arrived.')
  }
  const row = await requireRow('dlv', id, () =>
    db
      .updateTable('notification_delivery')
      .set({
        // One that an attempt is running for stays postponed, so that it is not sent twice at once.
        next_attempt_at: sql<Date>`case status when 'failed' then now() else next_attempt_at end`,
        status: 'waiting',
        attempts: 0,
        expires_at: sql<Date>`now() + interval '3 days'`,
      })
      .where('id', '=', id)
      .where('destination_id', '=', destination.id)
      .where('status', '!=', 'delivered')
      .returningAll()
      .executeTakeFirst(),
  )
  return toDelivery(row)
}

/** Sends a test event at once, to a disabled destination too. Rejects with `rate_limit_exceeded`. */
export async function testDestination(
  db: Kysely<Schema>,
  destination: StoredDestination,
  deliver: Deliver,
) {
  const id = await db.transaction().execute(async (trx) => {
    await lockAccount(trx, destination.user_id)
    await countTests(trx, destination.user_id)
    return addDelivery(trx, destination.id, {
      type: testEvent,
      data: { title: 'Test', body: 'This is a test of a destination of notifications.' },
      dueAt: new Date(Date.now() + leaseMs),
    })
  })
  const { expires_at, event, payload } = await db
    .updateTable('notification_delivery')
    .set({ attempts: 1 })
    .where('id', '=', id)
    .where('destination_id', '=', destination.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await deliver({ id, event, payload, attempts: 1, expires_at, destination })
  return toDelivery(await findDelivery(db, destination, id))
}

async function countTests(trx: Kysely<Schema>, userId: string): Promise<void> {
  const { total } = await trx
    .selectFrom('notification_delivery')
    .innerJoin('notification_destination as destination', 'destination.id', 'destination_id')
    .where('destination.user_id', '=', userId)
    .where('event', '=', testEvent)
    .where('notification_delivery.created_at', '>', sql<Date>`now() - interval '1 hour'`)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total < testsPerHour) return
  throw new ApiError('rate_limit_exceeded', {
    message: `The limit is ${testsPerHour} tests of destinations an hour.`,
    details: { limit: testsPerHour, window: windowSeconds, retry_after: windowSeconds },
    retryAfterSeconds: windowSeconds,
    quota: { limit: testsPerHour, remaining: 0, resetAtMs: Date.now() + windowSeconds * 1000 },
  })
}

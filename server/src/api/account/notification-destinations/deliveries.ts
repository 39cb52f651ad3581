import { sql, type Kysely } from 'kysely'
import { toDeliveryAnswer, type StoredDestination } from './answer'
import { ApiError, invalidRequest } from '../../../errors'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import type { Deliver } from '../../../notifications/deliver'
import { leaseEnd, testEvent, toDelivery } from '../../../notifications/events'
import { lockOwner, isOwnedBy, requireRow, type Owner } from '../../../platform/db/account-row'
import type { Schema } from '../../../platform/db/schema'

const testsPerHour = 30
const windowSeconds = 3600

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
  return { deliveries: items.map(toDeliveryAnswer), pagination }
}

/** Makes a delivery due at once, delivered before or not, with retries from the first pause on. */
export async function resendDelivery(
  db: Kysely<Schema>,
  destination: StoredDestination,
  id: string,
) {
  if (!destination.enabled) {
    throw invalidRequest(null, 'wrong_state', 'The destination is disabled. Enable it first.')
  }
  const row = await requireRow('dlv', id, () =>
    db
      .updateTable('notification_delivery')
      .set({
        status: 'waiting',
        next_attempt_at: sql<Date>`now()`,
        expires_at: sql<Date>`now() + interval '3 days'`,
        // A running attempt is recorded by its number.
        attempts: sql<number>`case when leased_until > now() then attempts else 0 end`,
      })
      .where('id', '=', id)
      .where('destination_id', '=', destination.id)
      .returningAll()
      .executeTakeFirst(),
  )
  return toDeliveryAnswer(row)
}

/** Sends a test event at once, to a disabled destination too. Rejects with `rate_limit_exceeded`. */
export async function testDestination(
  db: Kysely<Schema>,
  destination: StoredDestination,
  deliver: Deliver,
) {
  const delivery = await db.transaction().execute(async (trx) => {
    await lockOwner(trx, destination)
    await countTests(trx, destination)
    await requireDestination(trx, destination)
    return trx
      .insertInto('notification_delivery')
      .values({
        ...toDelivery(destination.id, testEvent, {
          title: 'Test',
          body: 'This is a test of a destination of notifications.',
        }),
        attempts: 1,
        leased_until: leaseEnd,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
  await deliver({ ...delivery, destination })
  const row = await requireRow('dlv', delivery.id, () =>
    db
      .selectFrom('notification_delivery')
      .selectAll()
      .where('id', '=', delivery.id)
      .where('destination_id', '=', destination.id)
      .executeTakeFirst(),
  )
  return toDeliveryAnswer(row)
}

/** Keeps a destination until the end of the transaction. Rejects with `resource_not_found` if it was deleted meanwhile. */
const requireDestination = (trx: Kysely<Schema>, { id, ...owner }: StoredDestination) =>
  requireRow('dest', id, () =>
    trx
      .selectFrom('notification_destination')
      .select('id')
      .where('id', '=', id)
      .where(isOwnedBy(owner))
      .forKeyShare()
      .executeTakeFirst(),
  )

async function countTests(trx: Kysely<Schema>, owner: Owner): Promise<void> {
  const { total } = await trx
    .selectFrom('notification_delivery as delivery')
    .innerJoin('notification_destination as destination', 'destination.id', 'destination_id')
    .where(isOwnedBy(owner))
    .where('event', '=', testEvent)
    .where('delivery.created_at', '>', sql<Date>`now() - make_interval(secs => ${windowSeconds})`)
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

import { sql, type Kysely } from 'kysely'
import { toDestination, type StoredDestination } from './answer'
import { listDeliveries, resendDelivery, testDestination } from './deliveries'
import { maxDestinations, type ChangedDestination, type NewDestination } from './schema'
import { invalidRequest } from '../../../errors'
import { present } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import type { Deliver } from '../../../notifications/deliver'
import {
  createSigningKey,
  openDestination,
  sealDestination,
} from '../../../notifications/destination'
import { endWaiting } from '../../../notifications/events'
import { lockAccount, requireRow } from '../../../platform/db/account-row'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { SealingKeys } from '../../../platform/db/sealed'

interface DestinationPorts {
  db: Kysely<Schema>
  sealingKeys: SealingKeys
  /** Returns a URL as it is stored, or the reason against it. */
  checkAddress: (
    text: string,
    owner: string,
  ) => Promise<{ href: string; refusal?: never } | { href?: never; refusal: string }>
  deliver: Deliver
}

const overlapMs = 86_400_000

export type DestinationStore = ReturnType<typeof createDestinationStore>

/** Destinations of accounts. All reject with `resource_not_found` for unknown and foreign ids. */
export function createDestinationStore(ports: DestinationPorts) {
  const { db, deliver } = ports
  return {
    async list(userId: string, page: Page) {
      const query = db
        .selectFrom('notification_destination')
        .selectAll()
        .where('user_id', '=', userId)
      const { items, pagination } = await queryPage(db, query, { page })
      return { destinations: items.map(toDestination), pagination }
    },
    create: (userId: string, fields: NewDestination) => create(ports, userId, fields),
    get: async (userId: string, id: string) => toDestination(await findRow(db, userId, id)),
    change: (userId: string, id: string, fields: ChangedDestination) =>
      change(ports, { userId, id }, fields),
    async delete(userId: string, id: string) {
      await findRow(db, userId, id)
      await db
        .deleteFrom('notification_destination')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .execute()
      return { success: true as const, message: 'The destination was deleted.' }
    },
    rotate: (userId: string, id: string) => rotate(ports, userId, id),
    test: async (userId: string, id: string) =>
      testDestination(db, await findRow(db, userId, id), deliver),
    deliveries: async (userId: string, id: string, page: Page) =>
      listDeliveries(db, await findRow(db, userId, id), page),
    resend: async (userId: string, id: string, deliveryId: string) =>
      resendDelivery(db, await findRow(db, userId, id), deliveryId),
  }
}

const findRow = (
  db: Kysely<Schema>,
  userId: string,
  ...[id, lock]: [id: string, lock?: 'locked']
): Promise<StoredDestination> =>
  requireRow('dest', id, () =>
    db
      .selectFrom('notification_destination')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .$if(lock === 'locked', (row) => row.forNoKeyUpdate())
      .executeTakeFirst(),
  )

/** Returns the address of a kind that has one of its own. Rejects with `invalid_request` for all others. */
function defaultUrl(kind: NewDestination['kind']): string {
  if (kind === 'pagerduty') return 'https://events.pagerduty.com/v2/enqueue'
  throw invalidRequest('url', 'required', 'url: required for this kind.')
}

async function checkUrl({ checkAddress }: DestinationPorts, url: string, owner: string) {
  const { href, refusal } = await checkAddress(url, owner)
  if (refusal === undefined) return href
  throw invalidRequest('url', 'not_allowed', `url: ${refusal}`)
}

/** Rejects with `invalid_request` unless exactly the destinations of PagerDuty have a routing key. */
function checkRoutingKey({ kind, routing_key }: Pick<NewDestination, 'kind' | 'routing_key'>) {
  if ((kind === 'pagerduty') === (routing_key !== undefined)) return
  const [issue, message] =
    kind === 'pagerduty'
      ? (['required', 'routing_key: PagerDuty requires one.'] as const)
      : (['not_allowed', 'routing_key: only PagerDuty has one.'] as const)
  throw invalidRequest('routing_key', issue, message)
}

async function create(ports: DestinationPorts, userId: string, fields: NewDestination) {
  const { db, sealingKeys } = ports
  checkRoutingKey(fields)
  const { url = defaultUrl(fields.kind), routing_key: routingKey, ...columns } = fields
  const href = await checkUrl(ports, url, userId)
  const key = columns.kind === 'webhook' ? createSigningKey() : undefined
  const id = newId('dest')
  const row = await db.transaction().execute(async (trx) => {
    await lockAccount(trx, userId)
    await checkCount(trx, userId)
    return trx
      .insertInto('notification_destination')
      .values({
        ...columns,
        ...sealDestination(id, { url: href, key, routingKey }, sealingKeys),
        id,
        user_id: userId,
        shown_url: new URL(href).origin,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
  return { ...toDestination(row), secret: key ?? null }
}

async function checkCount(trx: Kysely<Schema>, userId: string): Promise<void> {
  const { total } = await trx
    .selectFrom('notification_destination')
    .where('user_id', '=', userId)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total < maxDestinations) return
  const message = `An account has at most ${maxDestinations} destinations.`
  throw invalidRequest(null, 'limit_reached', message)
}

async function change(
  ports: DestinationPorts,
  { userId, id }: { userId: string; id: string },
  { url, routing_key: routingKey, ...fields }: ChangedDestination,
) {
  const { db, sealingKeys } = ports
  const { kind } = await findRow(db, userId, id)
  // With another address the key is given again: otherwise a caller who may change the address would receive it.
  if (routingKey !== undefined || url !== undefined) {
    checkRoutingKey({ kind, routing_key: routingKey })
  }
  const href = url === undefined ? undefined : await checkUrl(ports, url, userId)
  const row = await db.transaction().execute(async (trx) => {
    const current = await findRow(trx, userId, id, 'locked')
    const secret = openDestination(current, sealingKeys)
    const changed = { ...secret, ...present({ url: href, routingKey }) }
    if (fields.enabled === false) await endWaiting(trx, id)
    return trx
      .updateTable('notification_destination')
      .set({
        ...present(fields),
        ...sealDestination(id, changed, sealingKeys),
        ...(href !== undefined && { shown_url: new URL(href).origin }),
        ...(fields.enabled === true && { failing_since: null, disabled_reason: null }),
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
  return toDestination(row)
}

/** Replaces the key of the signatures; the one before signs too for a day. */
const rotate = ({ db, sealingKeys }: DestinationPorts, userId: string, id: string) =>
  db.transaction().execute(async (trx) => {
    const current = await findRow(trx, userId, id, 'locked')
    const { url, key: oldKey } = openDestination(current, sealingKeys)
    if (oldKey === undefined) {
      throw invalidRequest(null, 'wrong_state', 'This kind of destination has no signatures.')
    }
    const key = createSigningKey()
    const previous = { key: oldKey, until: Date.now() + overlapMs }
    const row = await trx
      .updateTable('notification_destination')
      .set({
        ...sealDestination(id, { url, key, previous }, sealingKeys),
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returningAll()
      .executeTakeFirstOrThrow()
    return { ...toDestination(row), secret: key }
  })

import { sql, type Kysely } from 'kysely'
import { toDestination, type StoredDestination } from './answer'
import { recordDestination, recordRotation } from './audit-fields'
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
import { endWaiting, eventsOf, type EventType } from '../../../notifications/events'
import { lockOwner, isOwnedBy, requireRow, type Owner } from '../../../platform/db/account-row'
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

interface OwnedId {
  owner: Owner
  id: string
}

const overlapMs = 86_400_000

export type DestinationStore = ReturnType<typeof createDestinationStore>

/** Destinations of accounts and organizations. All reject with `resource_not_found` for unknown and foreign ids. */
export function createDestinationStore(ports: DestinationPorts) {
  const { db, deliver } = ports
  return {
    async list(owner: Owner, page: Page) {
      const query = db.selectFrom('notification_destination').selectAll().where(isOwnedBy(owner))
      const { items, pagination } = await queryPage(db, query, { page })
      return { destinations: items.map(toDestination), pagination }
    },
    create: (owner: Owner, fields: NewDestination) => create(ports, owner, fields),
    get: async (owner: Owner, id: string) => toDestination(await findRow(db, owner, id)),
    change: (owner: Owner, id: string, fields: ChangedDestination) =>
      change(ports, { owner, id }, fields),
    async delete(owner: Owner, id: string) {
      await findRow(db, owner, id)
      await db.transaction().execute(async (trx) => {
        const before = await trx
          .deleteFrom('notification_destination')
          .where('id', '=', id)
          .where(isOwnedBy(owner))
          .returningAll()
          .executeTakeFirst()
        if (!before) return
        await removeFromAlerts(trx, owner, id)
        await recordDestination(trx, 'deleted', { before })
      })
      return { success: true as const, message: 'The destination was deleted.' }
    },
    rotate: (owner: Owner, id: string) => rotate(ports, owner, id),
    test: async (owner: Owner, id: string) =>
      testDestination(db, await findRow(db, owner, id), deliver),
    deliveries: async (owner: Owner, id: string, page: Page) =>
      listDeliveries(db, await findRow(db, owner, id), page),
    resend: async (owner: Owner, id: string, deliveryId: string) =>
      resendDelivery(db, await findRow(db, owner, id), deliveryId),
  }
}

/** Removes a destination from the alerts that name it. */
const removeFromAlerts = (trx: Kysely<Schema>, owner: Owner, id: string) =>
  sql`
    update alert set destinations = array_remove(destinations, ${id})
    where user_id = ${owner.user_id} and ${id} = any(destinations)`.execute(trx)

const findRow = (
  db: Kysely<Schema>,
  owner: Owner,
  ...[id, lock]: [id: string, lock?: 'locked']
): Promise<StoredDestination> =>
  requireRow('dest', id, () =>
    db
      .selectFrom('notification_destination')
      .selectAll()
      .where('id', '=', id)
      .where(isOwnedBy(owner))
      .$if(lock === 'locked', (row) => row.forNoKeyUpdate())
      .executeTakeFirst(),
  )

/** Returns the address of a kind that has one of its own. Rejects with `invalid_request` for all others. */
function defaultUrl(kind: NewDestination['kind']): string {
  if (kind === 'pagerduty') return 'https://events.pagerduty.com/v2/enqueue'
  throw invalidRequest('url', 'required', 'url: required for this kind.')
}

async function checkUrl({ checkAddress }: DestinationPorts, url: string, owner: Owner) {
  const { href, refusal } = await checkAddress(url, owner.organization_id ?? owner.user_id ?? '')
  if (refusal === undefined) return href
  throw invalidRequest('url', 'not_allowed', `url: ${refusal}`)
}

/** Returns the events. Rejects with `invalid_request` for those that the owner never has. */
function checkEvents(owner: Owner, events: readonly EventType[]): readonly EventType[] {
  const ownerEvents = eventsOf(owner)
  const other = events.find((event) => !ownerEvents.includes(event))
  if (other === undefined) return events
  const message = `events: an organization has no ${other}; it has ${ownerEvents.join(', ')}.`
  throw invalidRequest('events', 'not_allowed', message)
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

async function create(ports: DestinationPorts, owner: Owner, fields: NewDestination) {
  const { db, sealingKeys } = ports
  checkRoutingKey(fields)
  const { url = defaultUrl(fields.kind), routing_key: routingKey, ...columns } = fields
  const events = checkEvents(owner, columns.events ?? eventsOf(owner))
  const href = await checkUrl(ports, url, owner)
  const key = columns.kind === 'webhook' ? createSigningKey() : undefined
  const id = newId('dest')
  const row = await db.transaction().execute(async (trx) => {
    await lockOwner(trx, owner)
    await checkCount(trx, owner)
    const after = await trx
      .insertInto('notification_destination')
      .values({
        ...columns,
        ...sealDestination(id, { url: href, key, routingKey }, sealingKeys),
        ...owner,
        id,
        events,
        shown_url: new URL(href).origin,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordDestination(trx, 'created', { after })
    return after
  })
  return { ...toDestination(row), secret: key ?? null }
}

async function checkCount(trx: Kysely<Schema>, owner: Owner): Promise<void> {
  const { total } = await trx
    .selectFrom('notification_destination')
    .where(isOwnedBy(owner))
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total < maxDestinations) return
  const noun = owner.organization_id === null ? 'An account' : 'An organization'
  const message = `${noun} has at most ${maxDestinations} destinations.`
  throw invalidRequest(null, 'limit_reached', message)
}

async function change(
  ports: DestinationPorts,
  { owner, id }: OwnedId,
  { url, routing_key: routingKey, ...fields }: ChangedDestination,
) {
  const { db, sealingKeys } = ports
  const { kind } = await findRow(db, owner, id)
  // With another address the key is given again: otherwise a caller who may change the address would receive it.
  if (routingKey !== undefined || url !== undefined) {
    checkRoutingKey({ kind, routing_key: routingKey })
  }
  if (fields.events) checkEvents(owner, fields.events)
  const href = url === undefined ? undefined : await checkUrl(ports, url, owner)
  const row = await db.transaction().execute(async (trx) => {
    const current = await findRow(trx, owner, id, 'locked')
    const secret = openDestination(current, sealingKeys)
    const changed = { ...secret, ...present({ url: href, routingKey }) }
    if (fields.enabled === false) await endWaiting(trx, id)
    const after = await trx
      .updateTable('notification_destination')
      .set({
        ...present(fields),
        ...sealDestination(id, changed, sealingKeys),
        ...(href !== undefined && { shown_url: new URL(href).origin }),
        ...(fields.enabled === true && { failing_since: null, disabled_reason: null }),
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .where(isOwnedBy(owner))
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordDestination(trx, 'changed', { before: current, after })
    return after
  })
  return toDestination(row)
}

/** Replaces the key of the signatures; the one before signs too for a day. */
const rotate = ({ db, sealingKeys }: DestinationPorts, owner: Owner, id: string) =>
  db.transaction().execute(async (trx) => {
    const current = await findRow(trx, owner, id, 'locked')
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
      .where(isOwnedBy(owner))
      .returningAll()
      .executeTakeFirstOrThrow()
    await recordRotation(trx, row)
    return { ...toDestination(row), secret: key }
  })

import { sql, type Kysely } from 'kysely'
import { isOwnedBy, type Owner } from '../platform/db/account-row'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

/** The events that destinations take. Source: contract 6.13. */
export const eventTypes = [
  'alert.triggered',
  'balance.low',
  'budget.threshold',
  'key.expiring',
  'connection.failing',
  'quota_request.answered',
  'ticket.replied',
  'invitation.received',
  'account.notice',
] as const
export type EventType = (typeof eventTypes)[number]

/** The events that organizations have. */
const organizationEvents: readonly EventType[] = [
  'balance.low',
  'budget.threshold',
  'connection.failing',
]

/** Returns the events that an owner has. */
export const eventsOf = ({ organization_id: organizationId }: Owner): readonly EventType[] =>
  organizationId === null ? eventTypes : organizationEvents

/** The event that a test sends. */
export const testEvent = 'test'

/** The content of an event: a title and a text for people, ids and figures for programs. */
export interface EventData {
  title: string
  body: string
  [field: string]: string | number | null
}

interface OwnedEvent {
  owner: Owner
  type: EventType
  data: EventData
  /** The ids of the destinations that may get it; null for all. */
  only?: readonly string[] | null
}

/** The end of an attempt's lease: longer than an attempt lasts with its record. */
export const leaseEnd = sql<Date>`now() + interval '60 seconds'`

/** Returns the columns of a new delivery. The event is stored as it is signed. */
export const toDelivery = (destinationId: string, type: string, data: EventData) => ({
  id: newId('dlv'),
  destination_id: destinationId,
  event: type,
  payload: JSON.stringify({ type, timestamp: new Date().toISOString(), data }),
})

/** Queues an event for the destinations of its owner that take it, in the transaction of its cause. */
export async function queueEvent(
  db: Kysely<Schema>,
  { owner, type, data, only = null }: OwnedEvent,
): Promise<void> {
  const destinations = await db
    .selectFrom('notification_destination')
    .select('id')
    .where(isOwnedBy(owner))
    .where('enabled', '=', true)
    .where(sql<boolean>`${type} = any(events)`)
    .$if(only !== null, (row) => row.where(sql<boolean>`id = any(${only})`))
    // Deleted meanwhile, it would fail the transaction of the cause.
    .forKeyShare()
    .execute()
  if (destinations.length === 0) return
  const deliveries = destinations.map(({ id }) => toDelivery(id, type, data))
  await db.insertInto('notification_delivery').values(deliveries).execute()
}

/** Ends the deliveries that wait for a destination which is disabled, but for one that is being attempted. */
export const endWaiting = (trx: Kysely<Schema>, destinationId: string) =>
  trx
    .updateTable('notification_delivery')
    .set({ status: 'failed', error: 'The destination was disabled.' })
    .where('destination_id', '=', destinationId)
    .where('status', '=', 'waiting')
    .where(sql<boolean>`coalesce(leased_until, '-infinity') <= now()`)
    .execute()

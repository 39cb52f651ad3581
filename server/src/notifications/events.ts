import { sql, type Kysely } from 'kysely'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

/** The events that destinations take. Source: contract 6.4. */
export const eventTypes = [
  'alert.triggered',
  'balance.low',
  'quota_request.answered',
  'ticket.replied',
  'invitation.received',
  'account.notice',
] as const
export type EventType = (typeof eventTypes)[number]

/** The event that a test sends. */
export const testEvent = 'test'

/** What an event says: a title and a text for people, ids and figures for programs. */
export interface EventData {
  title: string
  body: string
  [field: string]: string | number | null
}

export interface AccountEvent {
  userId: string
  type: EventType
  data: EventData
}

/** The most deliveries in the log of a destination. */
export const maxDeliveries = 500

/** Formats an event as it is stored and signed. */
export const formatEvent = (type: string, data: EventData, at = new Date()): string =>
  JSON.stringify({ type, timestamp: at.toISOString(), data })

/**
 * Queues an event for the destinations of its account that take it, in the transaction of its cause. The oldest
 * deliveries of a full log are dropped.
 */
export async function queueEvent(
  db: Kysely<Schema>,
  { userId, type, data }: AccountEvent,
): Promise<void> {
  const destinations = await db
    .selectFrom('notification_destination')
    .select('id')
    .where('user_id', '=', userId)
    .where('enabled', '=', true)
    .where(
      (is) => is.val(type),
      '=',
      (is) => is.fn.any('events'),
    )
    .execute()
  for (const { id } of destinations) await addDelivery(db, id, { type, data })
}

/** Adds a delivery, due at once, and drops the oldest ones of a full log. Resolves with its id. */
export async function addDelivery(
  db: Kysely<Schema>,
  destinationId: string,
  { type, data, dueAt }: { type: string; data: EventData; dueAt?: Date },
): Promise<string> {
  const id = newId('dlv')
  await db
    .insertInto('notification_delivery')
    .values({
      id,
      destination_id: destinationId,
      event: type,
      payload: formatEvent(type, data),
      ...(dueAt && { next_attempt_at: dueAt }),
    })
    .execute()
  await db
    .deleteFrom('notification_delivery')
    .where('destination_id', '=', destinationId)
    .where('id', '<=', (from) =>
      from
        .selectFrom('notification_delivery')
        .select('id')
        .where('destination_id', '=', destinationId)
        .orderBy('id', 'desc')
        .offset(maxDeliveries)
        .limit(1),
    )
    .execute()
  return id
}

import type { Selectable } from 'kysely'
import { toTimestamp } from '../../../http/fields'
import { eventTypes } from '../../../notifications/events'
import type { DeliveryRow, DestinationRow } from '../../../platform/db/notice-schema'

export type StoredDestination = Selectable<DestinationRow>

export const toDestination = (row: StoredDestination) => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  url: row.shown_url,
  events: eventTypes.filter((event) => row.events.includes(event)),
  enabled: row.enabled,
  disabled_reason: row.disabled_reason,
  failing_since: row.failing_since && toTimestamp(row.failing_since),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

export const toDeliveryAnswer = (row: Selectable<DeliveryRow>) => ({
  id: row.id,
  event: row.event,
  status: row.status,
  attempts: row.attempts,
  response_status: row.response_status,
  response_text: row.response_text,
  error: row.error,
  next_attempt_at: row.status === 'waiting' ? toTimestamp(row.next_attempt_at) : null,
  last_attempt_at: row.last_attempt_at && toTimestamp(row.last_attempt_at),
  created_at: toTimestamp(row.created_at),
})

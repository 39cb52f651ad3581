import type { Selectable } from 'kysely'
import { isChannel, getMinRequests } from '../../../alerts/alert'
import type { AlertRow, AlertTriggerRow } from '../../../platform/db/alert-schema'
import { toTimestamp } from '../../../http/fields'

export type AlertListRow = Selectable<AlertRow>
type TriggerRow = Pick<
  Selectable<AlertTriggerRow>,
  'id' | 'triggered_at' | 'value' | 'acknowledged'
>

/** Shows an alert in the response to its creation. */
export const toCreated = (row: AlertListRow) => ({
  id: row.id,
  name: row.name,
  type: row.type,
  threshold: row.threshold,
  period: row.period,
  enabled: row.enabled,
  notification_channels: row.channels.filter(isChannel),
  notification_destinations: row.destinations,
  description: row.description,
  min_requests: getMinRequests(row.type, row.min_requests),
  created_at: toTimestamp(row.created_at),
})

export const toListed = (row: AlertListRow) => ({
  ...toCreated(row),
  last_triggered_at: row.last_triggered_at && toTimestamp(row.last_triggered_at),
  trigger_count: row.trigger_count,
})

export const toAlert = (row: AlertListRow, triggers: readonly TriggerRow[]) => ({
  ...toListed(row),
  recent_triggers: triggers.map(toTrigger),
  updated_at: toTimestamp(row.updated_at),
})

export const toTrigger = ({ id, triggered_at, value, acknowledged }: TriggerRow) => ({
  id,
  triggered_at: toTimestamp(triggered_at),
  value,
  acknowledged,
})

import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** A mail, sent or waiting to be sent. */
export interface MailRow {
  id: GeneratedAlways<bigint>
  recipient: string
  subject: string
  /** Plain text. */
  body: string
  /** Deduplicates mails: a mail with the same reference is written once. */
  reference: string | null
  attempts: Generated<number>
  next_attempt_at: Generated<Date>
  /** The end of the running attempt's lease, after which another node repeats it. */
  leased_until: Date | null
  expires_at: Generated<Date>
  sent_at: Date | null
  failed_at: Date | null
  last_error: string | null
  created_at: CreatedColumn
}

/** A notification to an account in the dashboard. */
export interface NotificationRow {
  id: string
  user_id: string
  kind:
    | 'alert'
    | 'alert_test'
    | 'low_balance'
    | 'budget'
    | 'key_expiring'
    | 'connection_failing'
    | 'quota_request'
    | 'ticket_reply'
    | 'invitation'
    | 'system'
  title: string
  body: string
  alert_id: string | null
  trigger_id: string | null
  /** A path of the dashboard. */
  link: string | null
  read_at: Date | null
  created_at: CreatedColumn
}

/** The expiry of which an account was notified, and how many days before; null for none. */
export interface ExpiryNoticeColumns {
  notified_expiry: Date | null
  notified_days: number | null
}

/** The time of the last notification of a failure, null once it is over. */
export interface FailureNoticeColumn {
  failure_notified_at: Date | null
}

/** The kinds that the table's constraint allows. */
export const destinationKinds = ['webhook', 'slack', 'teams', 'pagerduty'] as const

/** An address to which the events of an account, or of an organization, are sent. */
export interface DestinationRow {
  id: string
  user_id: string | null
  organization_id: string | null
  name: string
  kind: (typeof destinationKinds)[number]
  /** The URL without the part that grants access. */
  shown_url: string
  events: ColumnType<string[], readonly string[], readonly string[]>
  enabled: boolean
  /** The URL and the keys, sealed. */
  secret: Buffer
  secret_key_id: string
  /** The time of the first failed attempt since the last that succeeded. */
  failing_since: Date | null
  /** The reason why Tollgate disabled it. */
  disabled_reason: string | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** An event for a destination, delivered or waiting to be. */
export interface DeliveryRow {
  id: string
  destination_id: string
  event: string
  /** The event as JSON. */
  payload: string
  status: Generated<'waiting' | 'delivered' | 'failed'>
  attempts: Generated<number>
  next_attempt_at: Generated<Date>
  /** The end of the running attempt's lease, after which another node repeats it. */
  leased_until: Date | null
  expires_at: Generated<Date>
  last_attempt_at: Date | null
  response_status: number | null
  /** The beginning of the last answer. */
  response_text: string | null
  error: string | null
  created_at: CreatedColumn
}

export interface NoticeSchema {
  notification_destination: DestinationRow
  notification_delivery: DeliveryRow
  mail: MailRow
  notification: NotificationRow
}

import type { Generated, GeneratedAlways } from 'kysely'
import type { CreatedColumn } from './column-types'

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

export interface NoticeSchema {
  mail: MailRow
  notification: NotificationRow
}

import type { Kysely } from 'kysely'
import { queueEvent, type EventData, type EventType } from './events'
import { ofAccount } from '../platform/db/account-row'
import { newId } from '../platform/db/id'
import type { NotificationRow } from '../platform/db/notice-schema'
import type { Schema } from '../platform/db/schema'

export interface Notice {
  userId: string
  kind: NotificationRow['kind']
  title: string
  body: string
  alertId?: string
  triggerId?: string
  /** A path of the dashboard. */
  link?: string
  /** Ids and figures of its event, for programs. */
  figures?: Omit<EventData, 'title' | 'body'>
}

/** The events of notifications. Those of alerts are queued with their figures, whatever the channels. */
const eventOf: Readonly<Partial<Record<Notice['kind'], EventType>>> = {
  low_balance: 'balance.low',
  budget: 'budget.threshold',
  key_expiring: 'key.expiring',
  connection_failing: 'connection.failing',
  quota_request: 'quota_request.answered',
  ticket_reply: 'ticket.replied',
  invitation: 'invitation.received',
  system: 'account.notice',
}

/** Adds a notification to an account's list in the dashboard, and queues its event. Resolves with its id. */
export async function notify(db: Kysely<Schema>, notice: Notice): Promise<string> {
  const id = newId('ntf')
  await db
    .insertInto('notification')
    .values({
      id,
      user_id: notice.userId,
      kind: notice.kind,
      title: notice.title,
      body: notice.body,
      alert_id: notice.alertId ?? null,
      trigger_id: notice.triggerId ?? null,
      link: notice.link ?? null,
    })
    .execute()
  const { userId, title, body, figures } = notice
  const type = eventOf[notice.kind]
  const data = { title, body, ...figures, notification_id: id, link: notice.link ?? null }
  if (type !== undefined) await queueEvent(db, { owner: ofAccount(userId), type, data })
  return id
}

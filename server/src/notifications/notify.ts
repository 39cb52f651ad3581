import type { Kysely } from 'kysely'
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
}

/** Adds a notification to an account's list in the dashboard. Resolves with its id. */
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
  return id
}

import { sql, type Kysely, type Selectable } from 'kysely'
import { requireRow } from '../../../platform/db/account-row'
import type { NotificationFilter } from './schema'
import type { NotificationRow } from '../../../platform/db/notice-schema'
import type { Schema } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'

type Row = Selectable<NotificationRow>

const toNotification = (row: Row) => ({
  id: row.id,
  kind: row.kind,
  title: row.title,
  body: row.body,
  alert_id: row.alert_id,
  trigger_id: row.trigger_id,
  link: row.link,
  read_at: row.read_at && toTimestamp(row.read_at),
  created_at: toTimestamp(row.created_at),
})

export type NotificationStore = ReturnType<typeof createNotificationStore>

/** Notifications of accounts. Rejects with `resource_not_found` for unknown and foreign ids. */
export const createNotificationStore = (db: Kysely<Schema>) => ({
  async list(userId: string, page: Page, { unread, kind }: NotificationFilter) {
    const query = db
      .selectFrom('notification')
      .selectAll()
      .where('user_id', '=', userId)
      .$if(unread === true, (all) => all.where('read_at', 'is', null))
      .$if(unread === false, (all) => all.where('read_at', 'is not', null))
      .$if(kind !== undefined, (all) => all.where('kind', '=', kind ?? 'system'))
    const [{ items, pagination }, unreadCount] = await Promise.all([
      queryPage(db, query, { page }),
      countUnread(db, userId),
    ])
    return { notifications: items.map(toNotification), unread_count: unreadCount, pagination }
  },

  /** A notification that was read before stays as it was. */
  async read(userId: string, id: string) {
    const row = await requireRow('ntf', id, () =>
      db
        .updateTable('notification')
        .set({ read_at: sql<Date>`coalesce(read_at, now())` })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returningAll()
        .executeTakeFirst(),
    )
    return toNotification(row)
  },

  async readAll(userId: string) {
    const { numUpdatedRows } = await db
      .updateTable('notification')
      .set({ read_at: new Date() })
      .where('user_id', '=', userId)
      .where('read_at', 'is', null)
      .executeTakeFirst()
    const updated = Number(numUpdatedRows)
    return {
      success: true as const,
      message: `Notifications that were marked as read: ${updated}.`,
      updated,
    }
  },
})

async function countUnread(db: Kysely<Schema>, userId: string): Promise<number> {
  const { total } = await db
    .selectFrom('notification')
    .where('user_id', '=', userId)
    .where('read_at', 'is', null)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

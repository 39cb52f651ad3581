import { z } from 'zod'
import { pageFields, Pagination } from '../../../http/paging'
import { flag } from '../../../http/query'

export const kinds = [
  'alert',
  'alert_test',
  'low_balance',
  'budget',
  'key_expiring',
  'connection_failing',
  'quota_request',
  'ticket_reply',
  'invitation',
  'system',
] as const

/** Source: contract 6.3. */
export const Notification = z
  .object({
    id: z.string(),
    kind: z.enum(kinds),
    title: z.string(),
    body: z.string(),
    alert_id: z.string().nullable(),
    trigger_id: z.string().nullable(),
    link: z.string().nullable().describe('A path of the dashboard'),
    read_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'Notification' })

export const NotificationList = z.object({
  notifications: z.array(Notification),
  unread_count: z.int().describe('Of all notifications, regardless of the filter'),
  pagination: Pagination,
})

export const AllRead = z
  .object({ success: z.literal(true), message: z.string(), updated: z.int() })
  .meta({ ref: 'NotificationsRead' })

/** The query of the list. */
export const NotificationFilter = z.object({
  unread: flag.optional().describe('Only unread notifications, or only read ones'),
  kind: z.enum(kinds).optional().describe('Only notifications of this kind'),
  ...pageFields,
})
export type NotificationFilter = Omit<z.output<typeof NotificationFilter>, keyof typeof pageFields>

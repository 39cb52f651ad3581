import { AllRead, Notification, NotificationFilter, NotificationList } from './schema'
import type { NotificationStore } from './store'
import { account } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Notifications'
const path = '/api/account/notifications'

/** The inbox of an account. Source: contract 6.3. */
export const notificationRoutes = (notifications: NotificationStore): Route[] => [
  listNotifications(notifications),
  readAllNotifications(notifications),
  readNotification(notifications),
]

const listNotifications = (notifications: NotificationStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listNotifications',
    tag,
    summary: 'List notifications',
    notes:
      'Of the last 90 days, newest first. `unread_count` counts all, regardless of the filter.',
    query: NotificationFilter,
    responses: { 200: NotificationList },
    handler: ({ principal: { userId }, query }) => {
      const page = toPage(query, `inbox ${userId} ${query.unread ?? ''} ${query.kind ?? ''}`)
      return notifications.list(userId, page, query)
    },
  })

const readAllNotifications = (notifications: NotificationStore) =>
  route({
    method: 'post',
    path: `${path}/read-all`,
    access: account('write'),
    operationId: 'readAllNotifications',
    tag,
    summary: 'Mark all notifications as read',
    notes: '`updated` is the number of those that were unread.',
    responses: { 200: AllRead },
    handler: ({ principal }) => notifications.readAll(principal.userId),
  })

const readNotification = (notifications: NotificationStore) =>
  route({
    method: 'post',
    path: `${path}/:id/read`,
    access: account('write'),
    operationId: 'readNotification',
    tag,
    summary: 'Mark a notification as read',
    notes: 'Repeating it changes nothing.',
    params: { id: objectId('notif').describe('ID of the notification') },
    responses: { 200: Notification },
    handler: ({ principal, params: { id } }) => notifications.read(principal.userId, id),
  })

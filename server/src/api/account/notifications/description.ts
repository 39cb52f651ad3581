import { AllRead, Notification, NotificationList } from './schema'
import { accountRoute, paging } from '../../../http/documentation'

const tag = 'Notifications'

export const listNotifications = accountRoute({
  operationId: 'listNotifications',
  summary: 'What you were told in the last 90 days, newest first',
  tag,
  query: ['unread', 'kind', ...paging],
  answer: NotificationList,
})

export const readNotification = accountRoute({
  operationId: 'readNotification',
  summary: 'Mark a notification as read',
  tag,
  path: ['id'],
  answer: Notification,
})

export const readAllNotifications = accountRoute({
  operationId: 'readAllNotifications',
  summary: 'Mark all notifications as read',
  tag,
  answer: AllRead,
})

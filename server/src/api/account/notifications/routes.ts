import { Hono } from 'hono'
import * as described from './description'
import { NotificationFilter } from './schema'
import type { NotificationStore } from './store'
import type { Env } from '../../../http/env'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/account/notifications'

/** The inbox of an account. Source: contract 6.3. */
export const notificationRoutes = (notifications: NotificationStore, { account }: Guards) =>
  new Hono<Env>()
    .get(paths, described.listNotifications, account('read', 'account'), async (c) => {
      const { userId } = c.var.principal
      const filter = check(NotificationFilter, c.req.query())
      const page = toPage(c, `inbox ${userId} ${filter.unread ?? ''} ${filter.kind ?? ''}`)
      return c.json(await notifications.list(userId, page, filter))
    })
    .post(
      `${paths}/read-all`,
      described.readAllNotifications,
      account('write', 'account'),
      async (c) => c.json(await notifications.readAll(c.var.principal.userId)),
    )
    .post(`${paths}/:id/read`, described.readNotification, account('write', 'account'), async (c) =>
      c.json(await notifications.read(c.var.principal.userId, c.req.param('id'))),
    )

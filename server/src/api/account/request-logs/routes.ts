import { Hono } from 'hono'
import * as described from './description'
import { RequestLogFilter } from './schema'
import type { RequestLogStore } from './store'
import type { Env } from '../../../http/env'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/account/request-logs'
const one = `${paths}/:id`

/** Logs of an account's requests to the model endpoints. Source: contract 6.9. */
export const requestLogRoutes = (logs: RequestLogStore, { account }: Guards) =>
  new Hono<Env>()
    .get(paths, described.listRequestLogs, account('read', 'account'), async (c) => {
      const filter = check(RequestLogFilter, c.req.query())
      const { userId } = c.var.principal
      const page = toPage(c, `request logs ${userId} ${JSON.stringify(filter)}`)
      return c.json(await logs.list(userId, page, filter))
    })
    .get(`${paths}/stats`, described.getRequestLogStats, account('read', 'account'), async (c) => {
      const filter = check(RequestLogFilter, c.req.query())
      return c.json(await logs.stats(c.var.principal.userId, filter))
    })
    .get(one, described.getRequestLog, account('read', 'account'), async (c) =>
      c.json(await logs.get(c.var.principal.userId, c.req.param('id'))),
    )
    .get(`${one}/details`, described.getRequestLogDetails, account('read', 'account'), async (c) =>
      c.json(await logs.details(c.var.principal.userId, c.req.param('id'))),
    )

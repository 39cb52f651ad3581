import { Hono, type Context } from 'hono'
import * as described from './description'
import { ChangedAlert, AlertFilter, NewAlert } from './schema'
import type { AlertStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, type Page } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/account/alerts'
const one = `${paths}/:alert_id`
const trigger = `${one}/triggers/:trigger_id`

/** The most alerts of an account: without `limit`, the list has all of them. */
const mostShown = 100

function pageOfAlerts(c: Context<Env>, scope: string): Page {
  const page = toPage(c, scope)
  return c.req.query('limit') === undefined ? { ...page, limit: mostShown } : page
}

/** Usage alerts of an account. Source: contract 6.1. */
export const alertRoutes = (alerts: AlertStore, { account }: Guards) =>
  new Hono<Env>()
    .get(paths, described.listAlerts, account('read', 'account'), async (c) => {
      const { userId } = c.var.principal
      const filter = check(AlertFilter, c.req.query())
      const scope = `alerts ${userId} ${filter.type ?? ''} ${filter.enabled ?? ''}`
      return c.json(await alerts.list(userId, pageOfAlerts(c, scope), filter))
    })
    .post(paths, described.createAlert, account('write', 'account'), async (c) =>
      c.json(await alerts.create(c.var.principal.userId, await readNewFields(c, NewAlert)), 201),
    )
    .get(one, described.getAlert, account('read', 'account'), async (c) =>
      c.json(await alerts.get(c.var.principal.userId, c.req.param('alert_id'))),
    )
    .put(one, described.changeAlert, account('write', 'account'), async (c) => {
      const fields = await readChangedFields(c, ChangedAlert)
      return c.json(await alerts.change(c.var.principal.userId, c.req.param('alert_id'), fields))
    })
    .delete(one, described.deleteAlert, account('write', 'account'), async (c) =>
      c.json(await alerts.delete(c.var.principal.userId, c.req.param('alert_id'))),
    )
    .post(`${one}/test`, described.testAlert, account('write', 'account'), async (c) =>
      c.json(await alerts.test(c.var.principal.userId, c.req.param('alert_id'))),
    )
    .post(
      `${trigger}/acknowledge`,
      described.acknowledgeTrigger,
      account('write', 'account'),
      async (c) => {
        const { alert_id, trigger_id } = c.req.param()
        return c.json(await alerts.acknowledge(c.var.principal.userId, alert_id, trigger_id))
      },
    )

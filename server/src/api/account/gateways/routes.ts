import { Hono } from 'hono'
import { described } from './description'
import { GatewayFilters, NewGateway } from './schema'
import type { GatewayStore } from './store'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

/** Self-hosted gateways. Source: contract 7.3. */
export const gatewayRoutes = (gateways: GatewayStore, { account }: Guards) =>
  new Hono<Env>()
    .get('/api/gateways', described.listGateways, account('read', 'organization'), async (c) => {
      const filters = check(GatewayFilters, c.req.query())
      const page = toPage(c, `gateways ${c.var.principal.userId} ${JSON.stringify(filters)}`)
      return c.json(await gateways.list(c.var.principal, filters, page))
    })
    .post('/api/gateways', described.createGateway, account('write', 'organization'), async (c) =>
      c.json(await gateways.create(c.var.principal, await readNewFields(c, NewGateway)), 201),
    )
    .delete(
      '/api/gateways/:id',
      described.deleteGateway,
      account('write', 'organization'),
      async (c) => c.json(await gateways.delete(c.var.principal, c.req.param('id'))),
    )

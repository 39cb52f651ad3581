import { Hono } from 'hono'
import { described } from './description'
import type { ConnectionModelStore } from './models'
import { SetPrice } from './schema'
import type { Env } from '../../../http/env'
import { readChangedFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'

/** Models of connections, and their owners' prices. Source: contract 7.1. */
export const connectionModelRoutes = (models: ConnectionModelStore, { account }: Guards) =>
  new Hono<Env>()
    .get(
      '/api/connections/:id/models',
      described.listConnectionModels,
      account('read', 'organization'),
      async (c) => {
        const id = c.req.param('id')
        const page = toPage(c, `models of ${id}`)
        return c.json(await models.list(c.var.principal, id, page))
      },
    )
    .put(
      '/api/connections/:id/models/pricing',
      described.setConnectionModelPrice,
      account('write', 'organization'),
      async (c) => {
        const fields = await readChangedFields(c, SetPrice)
        return c.json(await models.price(c.var.principal, c.req.param('id'), fields))
      },
    )

import { Hono } from 'hono'
import { described } from './description'
import { ChangedConnection, Filters, NewConnection, NewSecret } from './schema'
import type { ConnectionStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

/** A customer's own provider keys (BYOK). Source: contract 7.1. */
export const connectionRoutes = (connections: ConnectionStore, { account }: Guards) =>
  new Hono<Env>()
    .get(
      '/api/connections',
      described.listConnections,
      account('read', 'organization'),
      async (c) => {
        const { userId } = c.var.principal
        const filters = check(Filters, c.req.query())
        const page = toPage(c, `connections ${userId} ${JSON.stringify(filters)}`)
        return c.json(await connections.list(c.var.principal, filters, page))
      },
    )
    .post(
      '/api/connections',
      described.createConnection,
      account('write', 'organization'),
      async (c) => {
        const fields = await readNewFields(c, NewConnection)
        return c.json(await connections.create(c.var.principal, fields), 201)
      },
    )
    .get(
      '/api/connections/:id',
      described.getConnection,
      account('read', 'organization'),
      async (c) => c.json(await connections.get(c.var.principal, c.req.param('id'))),
    )
    .put(
      '/api/connections/:id',
      described.changeConnection,
      account('write', 'organization'),
      async (c) => {
        const fields = await readChangedFields(c, ChangedConnection)
        return c.json(await connections.change(c.var.principal, c.req.param('id'), fields))
      },
    )
    .delete(
      '/api/connections/:id',
      described.deleteConnection,
      account('write', 'organization'),
      async (c) => c.json(await connections.delete(c.var.principal, c.req.param('id'))),
    )
    .post(
      '/api/connections/:id/test',
      described.testConnection,
      account('write', 'organization'),
      async (c) => c.json(await connections.test(c.var.principal, c.req.param('id'))),
    )
    .post(
      '/api/connections/:id/update-key',
      described.updateConnectionKey,
      account('write', 'organization'),
      async (c) => {
        const { api_key: secret } = await readNewFields(c, NewSecret)
        return c.json(await connections.updateKey(c.var.principal, c.req.param('id'), secret))
      },
    )

import { Hono } from 'hono'
import { described } from './description'
import { ChangedPool, NewPool, PoolFilters } from './schema'
import type { PoolStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

/** Connection pools (load balancing across connections). Source: contract 7.2. */
export const poolRoutes = (pools: PoolStore, { account }: Guards) =>
  new Hono<Env>()
    .get(
      '/api/connection-pools',
      described.listConnectionPools,
      account('read', 'organization'),
      async (c) => {
        const filters = check(PoolFilters, c.req.query())
        const scope = `pools ${c.var.principal.userId} ${JSON.stringify(filters)}`
        return c.json(await pools.list(c.var.principal, filters, toPage(c, scope)))
      },
    )
    .post(
      '/api/connection-pools',
      described.createConnectionPool,
      account('write', 'organization'),
      async (c) =>
        c.json(await pools.create(c.var.principal, await readNewFields(c, NewPool)), 201),
    )
    .get(
      '/api/connection-pools/:id',
      described.getConnectionPool,
      account('read', 'organization'),
      async (c) => c.json(await pools.get(c.var.principal, c.req.param('id'))),
    )
    .put(
      '/api/connection-pools/:id',
      described.changeConnectionPool,
      account('write', 'organization'),
      async (c) => {
        const fields = await readChangedFields(c, ChangedPool)
        return c.json(await pools.change(c.var.principal, c.req.param('id'), fields))
      },
    )
    .delete(
      '/api/connection-pools/:id',
      described.deleteConnectionPool,
      account('write', 'organization'),
      async (c) => c.json(await pools.delete(c.var.principal, c.req.param('id'))),
    )

import { Hono } from 'hono'
import { described } from './description'
import type { PlatformConnectionStore } from './store'
import {
  ChangedPlatformConnection,
  NewPlatformConnection,
  NewSecret,
} from '../../account/connections/schema'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'

/** Platform connections, for the operator. Source: contract 7.1, 9.2. */
export const platformConnectionRoutes = (
  connections: PlatformConnectionStore,
  { operator }: Guards,
) =>
  new Hono<Env>()
    .get('/api/admin/connections', described.list, operator, async (c) => {
      const search = toSearch(c)
      return c.json(await connections.list(toPage(c, `connections ${search ?? ''}`), search))
    })
    .post('/api/admin/connections', described.create, operator, async (c) =>
      c.json(await connections.create(await readNewFields(c, NewPlatformConnection)), 201),
    )
    .get('/api/admin/connections/:id', described.get, operator, async (c) =>
      c.json(await connections.get(c.req.param('id'))),
    )
    .put('/api/admin/connections/:id', described.change, operator, async (c) =>
      c.json(
        await connections.change(
          c.req.param('id'),
          await readChangedFields(c, ChangedPlatformConnection),
        ),
      ),
    )
    .delete('/api/admin/connections/:id', described.delete, operator, async (c) =>
      c.json(await connections.delete(c.req.param('id'))),
    )
    .post('/api/admin/connections/:id/test', described.test, operator, async (c) =>
      c.json(await connections.test(c.req.param('id'))),
    )
    .post('/api/admin/connections/:id/update-key', described.updateKey, operator, async (c) => {
      const { api_key: secret } = await readNewFields(c, NewSecret)
      return c.json(await connections.updateKey(c.req.param('id'), secret))
    })

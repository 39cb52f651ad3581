import { Hono } from 'hono'
import { described } from './platform-description'
import type { PlatformConnectionStore } from './platform-store'
import { ChangedPlatformConnection, NewPlatformConnection, NewSecret } from './schema'
import type { Env } from '../../http/env'
import { changedFields, newFields } from '../../http/fields'
import type { Guards } from '../../http/guards'
import { pageOf, searchOf } from '../../http/paging'

/** Platform connections, for the operator. Source: contract 7.1, 9.2. */
export const platformConnectionRoutes = (
  connections: PlatformConnectionStore,
  { operator }: Guards,
) =>
  new Hono<Env>()
    .get('/api/admin/connections', described.list, operator, async (c) => {
      const search = searchOf(c)
      return c.json(await connections.list(pageOf(c, `connections ${search ?? ''}`), search))
    })
    .post('/api/admin/connections', described.create, operator, async (c) =>
      c.json(await connections.create(await newFields(c, NewPlatformConnection)), 201),
    )
    .get('/api/admin/connections/:id', described.get, operator, async (c) =>
      c.json(await connections.get(c.req.param('id'))),
    )
    .put('/api/admin/connections/:id', described.change, operator, async (c) =>
      c.json(
        await connections.change(
          c.req.param('id'),
          await changedFields(c, ChangedPlatformConnection),
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
      const { api_key: secret } = await newFields(c, NewSecret)
      return c.json(await connections.updateKey(c.req.param('id'), secret))
    })

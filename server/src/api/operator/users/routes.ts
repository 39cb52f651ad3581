import { Hono } from 'hono'
import { described } from './description'
import { ChangedUser, NewUser, Suspension, UserFilter } from './schema'
import type { UserStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'
import { ChangedKey, NewKey } from '../../../keys/schema'
import { check } from '../../../wire/json-body'

/** Accounts and their keys, for the operator. Source: contract 9.2. */
export const userRoutes = (users: UserStore, { operator }: Guards) =>
  new Hono<Env>()
    .get('/api/admin/users', described.list, operator, async (c) => {
      const filter = { ...check(UserFilter, c.req.query()), search: toSearch(c) }
      return c.json(await users.list(toPage(c, `users ${JSON.stringify(filter)}`), filter))
    })
    .post('/api/admin/users', described.create, operator, async (c) =>
      c.json(await users.create(await readNewFields(c, NewUser)), 201),
    )
    .get('/api/admin/users/:id', described.get, operator, async (c) =>
      c.json(await users.get(c.req.param('id'))),
    )
    .put('/api/admin/users/:id', described.change, operator, async (c) =>
      c.json(await users.change(c.req.param('id'), await readChangedFields(c, ChangedUser))),
    )
    .delete('/api/admin/users/:id', described.erase, operator, async (c) =>
      c.json(await users.erase(c.req.param('id'))),
    )
    .get('/api/admin/users/:id/export', described.export, operator, async (c) => {
      const id = c.req.param('id')
      const type = { 'content-type': 'application/x-ndjson' }
      if (c.req.method !== 'HEAD') return c.body(await users.export(id), 200, type)
      // An export without a reader would block the next one until it expires.
      await users.get(id)
      return c.body(null, 200, type)
    })
    .post('/api/admin/users/:id/suspend', described.suspend, operator, async (c) => {
      const { reason } = await readNewFields(c, Suspension)
      return c.json(await users.suspend(c.req.param('id'), reason))
    })
    .post('/api/admin/users/:id/reinstate', described.reinstate, operator, async (c) =>
      c.json(await users.reinstate(c.req.param('id'))),
    )
    .get('/api/admin/users/:id/keys', described.listKeys, operator, async (c) =>
      c.json(await users.keys.list(c.req.param('id'))),
    )
    .post('/api/admin/users/:id/keys', described.createKey, operator, async (c) =>
      c.json(await users.keys.create(c.req.param('id'), await readNewFields(c, NewKey)), 201),
    )
    .put('/api/admin/users/:id/keys/:key_id', described.changeKey, operator, async (c) => {
      const { id, key_id: keyId } = c.req.param()
      return c.json(await users.keys.change(id, keyId, await readChangedFields(c, ChangedKey)))
    })
    .delete('/api/admin/users/:id/keys/:key_id', described.deleteKey, operator, async (c) => {
      const { id, key_id: keyId } = c.req.param()
      return c.json(await users.keys.delete(id, keyId))
    })

import { Hono } from 'hono'
import { described } from './description'
import { ChangedProvider, NewProvider } from './schema'
import type { ProviderStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'

/** Providers beside the built-in ones, for the operator. Source: contract 9.2. */
export const providerRoutes = (providers: ProviderStore, { operator }: Guards) =>
  new Hono<Env>()
    .get('/api/admin/providers', described.list, operator, async (c) => {
      const search = toSearch(c)
      return c.json(await providers.list(toPage(c, `providers ${search ?? ''}`), search))
    })
    .post('/api/admin/providers', described.create, operator, async (c) =>
      c.json(await providers.create(await readNewFields(c, NewProvider)), 201),
    )
    .get('/api/admin/providers/:id', described.get, operator, async (c) =>
      c.json(await providers.get(c.req.param('id'))),
    )
    .put('/api/admin/providers/:id', described.change, operator, async (c) =>
      c.json(
        await providers.change(c.req.param('id'), await readChangedFields(c, ChangedProvider)),
      ),
    )
    .delete('/api/admin/providers/:id', described.delete, operator, async (c) =>
      c.json(await providers.delete(c.req.param('id'))),
    )

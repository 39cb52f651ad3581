import { Hono } from 'hono'
import { described } from './description'
import { ChangedCollection, NewSystemCollection } from '../../account/model-collections/schema'
import type { CollectionStore } from '../../account/model-collections/store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'

/** Collections that every account may call, for the operator. Source: contract 9.2. */
export const systemCollectionRoutes = (collections: CollectionStore, { operator }: Guards) =>
  new Hono<Env>()
    .get('/api/admin/collections', described.list, operator, async (c) => {
      const search = toSearch(c)
      const page = toPage(c, `collections ${search ?? ''}`)
      return c.json(await collections.listSystem(page, search))
    })
    .post('/api/admin/collections', described.create, operator, async (c) =>
      c.json(
        await collections.create('operator', await readNewFields(c, NewSystemCollection)),
        201,
      ),
    )
    .put('/api/admin/collections/:id', described.change, operator, async (c) => {
      const fields = await readChangedFields(c, ChangedCollection)
      return c.json(await collections.change('operator', c.req.param('id'), fields))
    })
    .delete('/api/admin/collections/:id', described.delete, operator, async (c) =>
      c.json(await collections.delete('operator', c.req.param('id'))),
    )

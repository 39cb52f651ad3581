import { Hono } from 'hono'
import { ChangedModel, NewModel } from './schema'
import type { ModelStore } from './store'
import type { Env } from '../../http/env'
import { changedFields, newFields } from '../../http/fields'
import type { Guards } from '../../http/guards'
import { pageOf, searchOf } from '../../http/paging'

const one = '/api/admin/models/:id{[\\s\\S]+}'

/** The catalogue, for the operator; the slash of an id may be raw or encoded. Source: api.md 19. */
export const adminModelRoutes = (models: ModelStore, { operator }: Guards) =>
  new Hono<Env>()
    .get('/api/admin/models', operator, (c) => {
      const search = searchOf(c)
      return c.json(models.list(pageOf(c, `models ${search ?? ''}`), search))
    })
    .post('/api/admin/models', operator, async (c) =>
      c.json(await models.create(await newFields(c, NewModel)), 201),
    )
    .get(one, operator, (c) => c.json(models.get(c.req.param('id'))))
    .put(one, operator, async (c) =>
      c.json(await models.change(c.req.param('id'), await changedFields(c, ChangedModel))),
    )
    .delete(one, operator, async (c) => c.json(await models.delete(c.req.param('id'))))

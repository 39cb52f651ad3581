import { Hono, type Context } from 'hono'
import * as described from './description'
import { ChangedCollection, NewCollection, NewMembers, ScopeFilter } from './schema'
import type { CollectionStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { check } from '../../../wire/json-body'

const path = '/api/user/model-collections'

const asker = (c: Context<Env>) => ({ userId: c.var.principal.userId })

/** Collections of models under one name. Source: contract 7.5. */
export const collectionRoutes = (collections: CollectionStore, { account }: Guards) =>
  new Hono<Env>()
    .get(path, described.listModelCollections, account('read', 'organization'), async (c) => {
      const { scope } = check(ScopeFilter, c.req.query())
      return c.json(await collections.list(c.var.principal.userId, scope))
    })
    .post(path, described.createModelCollection, account('write', 'organization'), async (c) =>
      c.json(await collections.create(asker(c), await readNewFields(c, NewCollection)), 201),
    )
    .put(
      `${path}/:id`,
      described.changeModelCollection,
      account('write', 'organization'),
      async (c) => {
        const fields = await readChangedFields(c, ChangedCollection)
        return c.json(await collections.change(asker(c), c.req.param('id'), fields))
      },
    )
    .delete(
      `${path}/:id`,
      described.deleteModelCollection,
      account('write', 'organization'),
      async (c) => c.json(await collections.delete(asker(c), c.req.param('id'))),
    )
    .post(
      `${path}/:id/members`,
      described.addModelCollectionMembers,
      account('write', 'organization'),
      async (c) => {
        const fields = await readNewFields(c, NewMembers)
        return c.json(await collections.add(asker(c), c.req.param('id'), fields), 201)
      },
    )

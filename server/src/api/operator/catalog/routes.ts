import { Hono } from 'hono'
import { described } from './description'
import { AppliedCatalog, CatalogSource } from './schema'
import type { CatalogUpdateStore } from './store'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'

const path = '/api/admin/catalog'

/** Updates models and prices from a document, for the operator: preview, then apply. */
export const catalogUpdateRoutes = (updates: CatalogUpdateStore, { operatorBulk }: Guards) =>
  new Hono<Env>()
    .post(`${path}/preview`, described.preview, operatorBulk, async (c) =>
      c.json(await updates.preview(await readNewFields(c, CatalogSource))),
    )
    .post(`${path}/apply`, described.apply, operatorBulk, async (c) =>
      c.json(await updates.apply(await readNewFields(c, AppliedCatalog))),
    )

import { Hono } from 'hono'
import * as described from './description'
import { z } from 'zod'
import { ChangedMapping, NewMapping, NewPreview } from './schema'
import type { MappingStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/user/model-mappings'
const one = `${paths}/:id`

const Filter = z.object({ enabled: z.enum(['true', 'false']).optional() })

/** Model mappings (aliases) of an account. Source: contract 7.6. */
export const mappingRoutes = (mappings: MappingStore, { account }: Guards) =>
  new Hono<Env>()
    .get(paths, described.listModelMappings, account('read', 'account'), async (c) => {
      const { enabled } = check(Filter, c.req.query())
      const { userId } = c.var.principal
      const page = toPage(c, `mappings ${userId} ${enabled ?? ''}`)
      return c.json(await mappings.list(userId, page, enabled && enabled === 'true'))
    })
    .post(paths, described.createModelMapping, account('write', 'account'), async (c) =>
      c.json(
        await mappings.create(c.var.principal.userId, await readNewFields(c, NewMapping)),
        201,
      ),
    )
    .post(
      `${paths}/preview`,
      described.previewModelMapping,
      account('write', 'account'),
      async (c) =>
        c.json(await mappings.preview(c.var.principal.userId, await readNewFields(c, NewPreview))),
    )
    .put(one, described.changeModelMapping, account('write', 'account'), async (c) => {
      const { userId } = c.var.principal
      const fields = await readChangedFields(c, ChangedMapping)
      return c.json(await mappings.change(userId, c.req.param('id'), fields))
    })
    .delete(one, described.deleteModelMapping, account('write', 'account'), async (c) =>
      c.json(await mappings.delete(c.var.principal.userId, c.req.param('id'))),
    )

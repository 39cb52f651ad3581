import { Hono } from 'hono'
import { described } from './description'
import { OperatedOrganization } from './schema'
import type { OperatedOrganizationStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'

const paths = '/api/admin/organizations'
const one = `${paths}/:id`

/** Organizations, for the operator. Source: contract 9.2. */
export const operatedOrganizationRoutes = (
  organizations: OperatedOrganizationStore,
  { operator }: Guards,
) =>
  new Hono<Env>()
    .get(paths, described.list, operator, async (c) => {
      const search = toSearch(c)
      return c.json(await organizations.list(toPage(c, `organizations ${search ?? ''}`), search))
    })
    .get(one, described.get, operator, async (c) =>
      c.json(await organizations.get(c.req.param('id'))),
    )
    .put(one, described.change, operator, async (c) =>
      c.json(
        await organizations.change(
          c.req.param('id'),
          await readChangedFields(c, OperatedOrganization),
        ),
      ),
    )
    .delete(one, described.delete, operator, async (c) =>
      c.json(await organizations.delete(c.req.param('id'))),
    )

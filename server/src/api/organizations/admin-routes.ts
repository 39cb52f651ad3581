import { Hono } from 'hono'
import { described } from './admin-description'
import { OperatedOrganization } from './admin-schema'
import type { OperatedOrganizationStore } from './admin-store'
import type { Env } from '../../http/env'
import { changedFields } from '../../http/fields'
import type { Guards } from '../../http/guards'
import { pageOf, searchOf } from '../../http/paging'

const paths = '/api/admin/organizations'
const one = `${paths}/:id`

/** Organizations, for the operator. Source: contract 9.2. */
export const operatedOrganizationRoutes = (
  organizations: OperatedOrganizationStore,
  { operator }: Guards,
) =>
  new Hono<Env>()
    .get(paths, described.list, operator, async (c) => {
      const search = searchOf(c)
      return c.json(await organizations.list(pageOf(c, `organizations ${search ?? ''}`), search))
    })
    .get(one, described.get, operator, async (c) =>
      c.json(await organizations.get(c.req.param('id'))),
    )
    .put(one, described.change, operator, async (c) =>
      c.json(
        await organizations.change(c.req.param('id'), await changedFields(c, OperatedOrganization)),
      ),
    )
    .delete(one, described.delete, operator, async (c) =>
      c.json(await organizations.delete(c.req.param('id'))),
    )

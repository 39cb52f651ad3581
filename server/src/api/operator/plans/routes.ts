import { Hono } from 'hono'
import { described } from './description'
import { ChangedPlan, NewPlan } from './schema'
import type { PlanStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'

/** Plans, for the operator. Source: contract 3.2, 9.2. */
export const planRoutes = (plans: PlanStore, { operator }: Guards) =>
  new Hono<Env>()
    .get('/api/admin/plans', described.list, operator, async (c) => {
      const search = toSearch(c)
      return c.json(await plans.list(toPage(c, `plans ${search ?? ''}`), search))
    })
    .post('/api/admin/plans', described.create, operator, async (c) =>
      c.json(await plans.create(await readNewFields(c, NewPlan)), 201),
    )
    .put('/api/admin/plans/:id', described.change, operator, async (c) =>
      c.json(await plans.change(c.req.param('id'), await readChangedFields(c, ChangedPlan))),
    )
    .delete('/api/admin/plans/:id', described.delete, operator, async (c) =>
      c.json(await plans.delete(c.req.param('id'))),
    )

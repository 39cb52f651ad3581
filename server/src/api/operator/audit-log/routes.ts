import { Hono } from 'hono'
import { listChanges } from './description'
import { TrailFilter } from './schema'
import type { TrailStore } from './store'
import type { Env } from '../../../http/env'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'
import { check } from '../../../wire/json-body'

/** The audit log of operators. Source: contract 9.2. */
export const trailRoutes = (trail: TrailStore, { operator }: Guards) =>
  new Hono<Env>().get('/api/admin/audit-trail', listChanges, operator, async (c) => {
    const filter = { ...check(TrailFilter, c.req.query()), search: toSearch(c) }
    return c.json(await trail.list(toPage(c, `trail ${JSON.stringify(filter)}`), filter))
  })

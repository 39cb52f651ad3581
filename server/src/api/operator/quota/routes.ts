import { Hono } from 'hono'
import { z } from 'zod'
import { described } from './description'
import type { QuotaRequestStore } from '../../account/quota/request-store'
import { Decision, Rejection } from '../../account/quota/schema'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/admin/quota-requests'

const Filter = z.object({ status: z.enum(['pending', 'approved', 'rejected']).optional() })

/** Requests for higher limits, for the operator. Source: contract 9.2. */
export const quotaRequestRoutes = (requests: QuotaRequestStore, { operator }: Guards) =>
  new Hono<Env>()
    .get(paths, described.list, operator, async (c) => {
      const filter = { ...check(Filter, c.req.query()), search: toSearch(c) }
      const page = toPage(c, `quota requests ${JSON.stringify(filter)}`)
      return c.json(await requests.list(page, filter))
    })
    .post(`${paths}/:id/approve`, described.approve, operator, async (c) =>
      c.json(await requests.approve(c.req.param('id'), await readNewFields(c, Decision))),
    )
    .post(`${paths}/:id/reject`, described.reject, operator, async (c) => {
      const { note } = await readNewFields(c, Rejection)
      return c.json(await requests.reject(c.req.param('id'), note ?? null))
    })

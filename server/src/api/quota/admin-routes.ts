import { Hono, type Context } from 'hono'
import { z } from 'zod'
import type { QuotaRequestStore } from './request-store'
import { Decision, Rejection } from './schema'
import type { Env } from '../../http/env'
import { newFields } from '../../http/fields'
import type { Guards } from '../../http/guards'
import { pageOf, searchOf } from '../../http/paging'
import { check } from '../../wire/json-body'

const paths = '/api/admin/quota-requests'

const Filter = z.object({ status: z.enum(['pending', 'approved', 'rejected']).optional() })

/** All fields of a decision may be left out, and then the body too. */
const decisionOf = async <Schema extends z.ZodType>(c: Context<Env>, schema: Schema) =>
  c.req.raw.body === null ? check(schema, {}) : newFields(c, schema)

/** Requests for higher limits, for the operator. Source: api.md 19. */
export const quotaRequestRoutes = (requests: QuotaRequestStore, { operator }: Guards) =>
  new Hono<Env>()
    .get(paths, operator, async (c) => {
      const filter = { ...check(Filter, c.req.query()), search: searchOf(c) }
      const page = pageOf(c, `quota requests ${JSON.stringify(filter)}`)
      return c.json(await requests.list(page, filter))
    })
    .post(`${paths}/:id/approve`, operator, async (c) =>
      c.json(await requests.approve(c.req.param('id'), await decisionOf(c, Decision))),
    )
    .post(`${paths}/:id/reject`, operator, async (c) => {
      const { note } = await decisionOf(c, Rejection)
      return c.json(await requests.reject(c.req.param('id'), note ?? null))
    })

import { Hono } from 'hono'
import { z } from 'zod'
import type { SupportStore } from './admin-store'
import { Filter, HandledTicket, NewComment } from './schema'
import type { Env } from '../../http/env'
import { changedFields, newFields } from '../../http/fields'
import type { Guards } from '../../http/guards'
import { pageOf, searchOf } from '../../http/paging'
import { check } from '../../wire/json-body'

const paths = '/api/admin/tickets'
const one = `${paths}/:id`

const StaffFilter = Filter.extend({ assignee_id: z.string().optional() })

/** Tickets of all accounts, for the operator. Source: api.md 19. */
export const supportRoutes = (support: SupportStore, { operator }: Guards) =>
  new Hono<Env>()
    .get(paths, operator, async (c) => {
      const filter = { ...check(StaffFilter, c.req.query()), search: searchOf(c) }
      return c.json(await support.list(pageOf(c, `tickets ${JSON.stringify(filter)}`), filter))
    })
    .get(one, operator, async (c) => c.json(await support.get(c.req.param('id'))))
    .put(one, operator, async (c) =>
      c.json(await support.change(c.req.param('id'), await changedFields(c, HandledTicket))),
    )
    .post(`${one}/comments`, operator, async (c) => {
      const { content } = await newFields(c, NewComment)
      return c.json(await support.comment(c.req.param('id'), content), 201)
    })

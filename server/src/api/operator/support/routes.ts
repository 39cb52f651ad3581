import { Hono } from 'hono'
import { described } from './description'
import type { SupportStore } from './store'
import { HandledTicket, NewComment, StaffFilter } from '../../account/support/schema'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage, toSearch } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/admin/tickets'
const one = `${paths}/:id`

/** Tickets of all accounts, for the operator. Source: contract 9.2. */
export const supportRoutes = (support: SupportStore, { operator }: Guards) =>
  new Hono<Env>()
    .get(paths, described.list, operator, async (c) => {
      const filter = { ...check(StaffFilter, c.req.query()), search: toSearch(c) }
      return c.json(await support.list(toPage(c, `tickets ${JSON.stringify(filter)}`), filter))
    })
    .get(one, described.get, operator, async (c) => c.json(await support.get(c.req.param('id'))))
    .put(one, described.change, operator, async (c) =>
      c.json(await support.change(c.req.param('id'), await readChangedFields(c, HandledTicket))),
    )
    .post(`${one}/comments`, described.comment, operator, async (c) => {
      const { content } = await readNewFields(c, NewComment)
      return c.json(await support.comment(c.req.param('id'), content), 201)
    })

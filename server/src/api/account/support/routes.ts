import { Hono } from 'hono'
import * as described from './description'
import { ChangedTicket, TicketFilter, NewComment, NewTicket } from './schema'
import type { TicketStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/support/tickets'
const one = `${paths}/:id`

/** Support tickets of an account. Source: contract 6.12. */
export const ticketRoutes = (tickets: TicketStore, { account }: Guards) =>
  new Hono<Env>()
    .get(paths, described.listTickets, account('read', 'account'), async (c) => {
      const filter = check(TicketFilter, c.req.query())
      const { userId } = c.var.principal
      const page = toPage(c, `tickets ${userId} ${JSON.stringify(filter)}`)
      return c.json(await tickets.list(userId, page, filter))
    })
    .post(paths, described.createTicket, account('write', 'account'), async (c) =>
      c.json(await tickets.create(c.var.principal.userId, await readNewFields(c, NewTicket)), 201),
    )
    .get(one, described.getTicket, account('read', 'account'), async (c) =>
      c.json(await tickets.get(c.var.principal.userId, c.req.param('id'))),
    )
    .put(one, described.changeTicket, account('write', 'account'), async (c) => {
      const fields = await readChangedFields(c, ChangedTicket)
      return c.json(await tickets.change(c.var.principal.userId, c.req.param('id'), fields))
    })
    .post(`${one}/comments`, described.createComment, account('write', 'account'), async (c) => {
      const { content } = await readNewFields(c, NewComment)
      return c.json(await tickets.comment(c.var.principal.userId, c.req.param('id'), content), 201)
    })

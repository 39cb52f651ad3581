import {
  ChangedTicket,
  Comment,
  NewComment,
  NewTicket,
  Ticket,
  TicketFilter,
  TicketList,
} from './schema'
import type { TicketStore } from './store'
import { account } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Support'
const path = '/api/support/tickets'
const params = { id: objectId('ticket').describe('ID of the ticket') }

/** Support tickets of an account. Source: contract 6.12. */
export const ticketRoutes = (tickets: TicketStore): Route[] => [
  listTickets(tickets),
  createTicket(tickets),
  getTicket(tickets),
  changeTicket(tickets),
  createTicketComment(tickets),
]

const listTickets = (tickets: TicketStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listTickets',
    tag,
    summary: 'List your tickets',
    notes: 'Newest first, without their comments.',
    query: TicketFilter,
    responses: { 200: TicketList },
    handler: ({ principal: { userId }, query }) => {
      const { limit, offset, cursor, ...filter } = query
      const page = toPage({ limit, offset, cursor }, `tickets ${userId} ${JSON.stringify(filter)}`)
      return tickets.list(userId, page, filter)
    },
  })

const createTicket = (tickets: TicketStore) =>
  route({
    method: 'post',
    path,
    access: account('write'),
    operationId: 'createTicket',
    tag,
    summary: 'Create a ticket',
    notes: '`request_id` names one of your requests. Up to 20 tickets can be open.',
    body: NewTicket,
    examples: {
      'A question': {
        subject: 'An answer was cut off',
        description: 'It ended in the middle of a word.',
      },
    },
    responses: { 201: Ticket },
    handler: ({ principal, body }) => tickets.create(principal.userId, body),
  })

const getTicket = (tickets: TicketStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: account('read'),
    operationId: 'getTicket',
    tag,
    summary: 'Get a ticket with its comments',
    notes: 'Oldest comment first.',
    params,
    responses: { 200: Ticket },
    handler: ({ principal, params: { id } }) => tickets.get(principal.userId, id),
  })

const changeTicket = (tickets: TicketStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: account('write'),
    operationId: 'changeTicket',
    tag,
    summary: 'Update a ticket or its status',
    notes: 'A closed ticket can be reopened for 30 days.',
    params,
    body: ChangedTicket,
    examples: { Resolve: { status: 'resolved' } },
    responses: { 200: Ticket },
    handler: ({ principal, params: { id }, body }) => tickets.change(principal.userId, id, body),
  })

const createTicketComment = (tickets: TicketStore) =>
  route({
    method: 'post',
    path: `${path}/:id/comments`,
    access: account('write'),
    operationId: 'createTicketComment',
    tag,
    summary: 'Add a comment to a ticket',
    notes: 'A comment reopens a resolved ticket. A closed ticket takes none.',
    params,
    body: NewComment,
    examples: { 'An answer': { content: 'It was model a/b.' } },
    responses: { 201: Comment },
    handler: ({ principal, params: { id }, body }) =>
      tickets.comment(principal.userId, id, body.content),
  })

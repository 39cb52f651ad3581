import type { SupportStore } from './store'
import {
  Comment,
  HandledTicket,
  NewComment,
  StaffFilter,
  StaffTicket,
  StaffTicketList,
} from '../../account/support/schema'
import { operator } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Support'
const path = '/api/admin/tickets'
const params = { id: objectId('ticket').describe('ID of the ticket') }

/** Tickets of all accounts, for the operator. Source: contract 9.2. */
export const supportRoutes = (support: SupportStore): Route[] => [
  listAllTickets(support),
  getAnyTicket(support),
  handleTicket(support),
  answerTicket(support),
]

const listAllTickets = (support: SupportStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['support', 'read_only'] }),
    operationId: 'listAllTickets',
    tag,
    summary: 'List the tickets of all accounts',
    notes: 'Newest first.',
    query: StaffFilter,
    responses: { 200: StaffTicketList },
    handler: ({ query }) => {
      const { limit, offset, cursor, ...filter } = query
      const page = toPage({ limit, offset, cursor }, `tickets ${JSON.stringify(filter)}`)
      return support.list(page, filter)
    },
  })

const getAnyTicket = (support: SupportStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: operator({ roles: ['support', 'read_only'] }),
    operationId: 'getAnyTicket',
    tag,
    summary: 'Get a ticket with its comments',
    params,
    responses: { 200: StaffTicket },
    handler: ({ params: { id } }) => support.get(id),
  })

const handleTicket = (support: SupportStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: operator({ roles: ['support'] }),
    operationId: 'handleTicket',
    tag,
    summary: 'Update the assignee, priority or status of a ticket',
    params,
    body: HandledTicket,
    examples: { Urgent: { priority: 'urgent' } },
    responses: { 200: StaffTicket },
    handler: ({ params: { id }, body }) => support.change(id, body),
  })

const answerTicket = (support: SupportStore) =>
  route({
    method: 'post',
    path: `${path}/:id/comments`,
    access: operator({ roles: ['support'] }),
    operationId: 'answerTicket',
    tag,
    summary: 'Add an answer to a ticket',
    notes: 'The customer receives the answer by mail and in the inbox.',
    params,
    body: NewComment,
    examples: { 'An answer': { content: 'It was model a/b.' } },
    responses: { 201: Comment },
    handler: ({ params: { id }, body }) => support.comment(id, body.content),
  })

import {
  Comment,
  HandledTicket,
  NewComment,
  StaffFilter,
  StaffTicket,
  StaffTicketList,
} from '../../account/support/schema'
import { operatorRoute, paging } from '../../../http/documentation'

const tag = 'Support'
const path = ['id'] as const

export const described = {
  list: operatorRoute({
    operationId: 'listAllTickets',
    summary: 'Tickets of all accounts, newest first',
    tag,
    query: ['search', ...Object.keys(StaffFilter.shape), ...paging],
    answer: StaffTicketList,
  }),
  get: operatorRoute({
    operationId: 'getAnyTicket',
    summary: 'A ticket with its comments',
    tag,
    path,
    answer: StaffTicket,
  }),
  change: operatorRoute({
    operationId: 'handleTicket',
    summary: 'Assign a ticket, or change its state',
    tag,
    path,
    answer: StaffTicket,
    body: ['HandledTicket', HandledTicket, { Urgent: { priority: 'urgent' } }],
  }),
  comment: operatorRoute({
    operationId: 'answerTicket',
    summary: 'Answer a ticket, by inbox and mail',
    tag,
    status: 201,
    path,
    answer: Comment,
    body: ['NewTicketComment', NewComment, { 'An answer': { content: 'It was model a/b.' } }],
  }),
}

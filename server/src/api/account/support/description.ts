import { ChangedTicket, Comment, NewComment, NewTicket, Ticket, TicketList } from './schema'
import { accountRoute, paging } from '../../../http/documentation'

const tag = 'Support'

const example = { subject: 'An answer was cut', description: 'It ended in the middle of a word.' }

export const listTickets = accountRoute({
  operationId: 'listTickets',
  summary: 'Your tickets, newest first',
  tag,
  query: ['status', 'category', 'priority', ...paging],
  answer: TicketList,
})

export const createTicket = accountRoute({
  operationId: 'createTicket',
  summary: 'Ask support',
  tag,
  status: 201,
  body: ['NewTicket', NewTicket, { 'A question': example }],
  answer: Ticket,
})

export const getTicket = accountRoute({
  operationId: 'getTicket',
  summary: 'A ticket with its comments',
  tag,
  path: ['id'],
  answer: Ticket,
})

export const changeTicket = accountRoute({
  operationId: 'changeTicket',
  summary: 'Change, resolve, close or reopen a ticket',
  tag,
  path: ['id'],
  body: ['ChangedTicket', ChangedTicket, { 'It is solved': { status: 'resolved' } }],
  answer: Ticket,
})

export const createComment = accountRoute({
  operationId: 'createTicketComment',
  summary: 'Say more to a ticket',
  tag,
  status: 201,
  path: ['id'],
  body: ['NewTicketComment', NewComment, { 'An answer': { content: 'It was model a/b.' } }],
  answer: Comment,
})

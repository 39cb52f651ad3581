import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { pageFields, Pagination } from '../../../http/paging'
import { searchText } from '../../../http/query'
import { trimmed } from '../../../http/fields'

export const category = z.enum([
  'billing',
  'technical',
  'account',
  'api',
  'feature_request',
  'other',
])
export const priority = z.enum(['low', 'medium', 'high', 'urgent'])
export const status = z.enum(['open', 'in_progress', 'waiting_on_customer', 'resolved', 'closed'])
const description = z.string().min(1).max(10_000)

/** A new support ticket. Source: contract 6.12. */
export const NewTicket = z
  .object({
    subject: trimmed(200),
    description,
    category: category.nullish().transform((value) => value ?? 'other'),
    priority: priority.nullish().transform((value) => value ?? 'medium'),
    request_id: z.string().nullish().describe('The `x-request-id` of the request in question'),
  })
  .meta({ ref: 'NewTicket' })
export type NewTicket = z.output<typeof NewTicket>

export const ChangedTicket = z
  .object({
    subject: trimmed(200).optional(),
    description: description.optional(),
    category: category.optional(),
    priority: priority.optional(),
    status: z.enum(['resolved', 'closed', 'open']).optional(),
  })
  .meta({ ref: 'ChangedTicket' })
export type ChangedTicket = z.output<typeof ChangedTicket>

/** A change of a ticket by support staff. Source: contract 9.2. */
export const HandledTicket = z
  .object({
    status: status.optional(),
    priority: priority.optional(),
    category: category.optional(),
    assignee_id: z.string().nullish(),
  })
  .meta({ ref: 'HandledTicket' })
export type HandledTicket = z.output<typeof HandledTicket>

export const NewComment = z
  .object({ content: z.string().min(1).max(10_000) })
  .meta({ ref: 'NewTicketComment' })
export type NewComment = z.output<typeof NewComment>

/** The query of the list. */
export const TicketFilter = z.object({
  status: status.optional().describe('Only tickets with this status'),
  category: category.optional().describe('Only tickets of this category'),
  priority: priority.optional().describe('Only tickets with this priority'),
  ...pageFields,
})
export type TicketFilter = Omit<z.output<typeof TicketFilter>, keyof typeof pageFields>

export const Comment = z
  .object({
    id: z.string(),
    ticket_id: z.string(),
    author: z.enum(['user', 'support']),
    author_name: z.string(),
    content: z.string(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'TicketComment' })

const fields = {
  id: z.string(),
  ticket_number: z.string().meta({ examples: ['TKT-000001'] }),
  subject: z.string(),
  description: z.string(),
  category,
  priority,
  status,
  request_id: z.string().nullable(),
  comment_count: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  resolved_at: z.iso.datetime().nullable(),
  closed_at: z.iso.datetime().nullable(),
}

export const ListedTicket = z.object(fields).meta({ ref: 'ListedTicket' })

export const Ticket = z
  .object({ ...fields, comments: z.array(Comment).describe('Oldest first') })
  .meta({ ref: 'Ticket' })

export const TicketList = z.object({ tickets: z.array(ListedTicket), pagination: Pagination })

/** Filters of the list of all accounts' tickets. */
export const StaffFilter = z.object({
  ...TicketFilter.omit({ limit: true, offset: true, cursor: true }).shape,
  assignee_id: objectId('user')
    .max(100)
    .optional()
    .describe('Only tickets of this operator; `none` for unassigned ones'),
  search: searchText('Text in the number, the subject or the e-mail address'),
  ...pageFields,
})

const staff = { user_id: z.string(), email: z.string(), assignee_id: z.string().nullable() }

export const StaffTicket = Ticket.extend(staff).meta({ ref: 'StaffTicket' })

export const StaffTicketList = z
  .object({
    tickets: z.array(ListedTicket.extend(staff).meta({ ref: 'ListedStaffTicket' })),
    pagination: Pagination,
  })
  .meta({ ref: 'StaffTicketList' })

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { oneOf, present, textOf, type Search } from '../../url/search'

export const categories = [
  'billing',
  'technical',
  'account',
  'api',
  'feature_request',
  'other',
] as const
export type Category = (typeof categories)[number]

export const categoryNames: Readonly<Record<Category, string>> = {
  billing: 'Billing',
  technical: 'Technical',
  account: 'Account',
  api: 'API',
  feature_request: 'Feature request',
  other: 'Other',
}

export const priorities = ['low', 'medium', 'high', 'urgent'] as const
export type Priority = (typeof priorities)[number]

export const priorityNames: Readonly<Record<Priority, string>> = {
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  urgent: 'Urgent',
}

export const states = ['open', 'in_progress', 'waiting_on_customer', 'resolved', 'closed'] as const
export type State = (typeof states)[number]

export const stateNames: Readonly<Record<State, string>> = {
  open: 'Open',
  in_progress: 'In progress',
  waiting_on_customer: 'Waiting for you',
  resolved: 'Resolved',
  closed: 'Closed',
}

export const stateColors: Readonly<Record<State, string>> = {
  open: 'blue',
  in_progress: 'brand',
  waiting_on_customer: 'yellow',
  resolved: 'green',
  closed: 'gray',
}

/** The states that the owner of a ticket may set, by the current state. Source: contract 6.12. */
export const settable: Readonly<Record<State, readonly ('open' | 'resolved' | 'closed')[]>> = {
  open: ['resolved', 'closed'],
  in_progress: ['resolved', 'closed'],
  waiting_on_customer: ['resolved', 'closed'],
  resolved: ['open', 'closed'],
  closed: ['open'],
}

/** The filters of the tickets; `new` opens the form for a new ticket, about `request` if given. */
export interface TicketSearch {
  status?: State | undefined
  category?: Category | undefined
  priority?: Priority | undefined
  new?: true | undefined
  request?: string | undefined
}

export type TicketFilter = Pick<TicketSearch, 'status' | 'category' | 'priority'>

export const toTicketFilter = (search: Search): TicketFilter => ({
  status: oneOf(search, 'status', states),
  category: oneOf(search, 'category', categories),
  priority: oneOf(search, 'priority', priorities),
})

export const toTicketSearch = (search: Search): TicketSearch => ({
  ...toTicketFilter(search),
  new: search['new'] === true ? true : undefined,
  request: textOf(search, 'request'),
})

async function pageAt(filter: TicketFilter, cursor: string) {
  const query = present({ ...filter, cursor: cursor || undefined, limit: 20 })
  return bodyOf(api.GET('/api/support/tickets', { params: { query } }))
}

export const ticketsQuery = (filter: TicketFilter) =>
  infiniteQueryOptions({
    queryKey: ['tickets', 'list', filter],
    queryFn: ({ pageParam }) => pageAt(filter, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  })

export type ListedTicket = Schemas['ListedTicket']

const refetchIntervalMs = 30_000

/** One ticket, polled as support may reply. */
export const ticketQuery = (id: string) =>
  queryOptions({
    queryKey: ['tickets', 'one', id],
    queryFn: async () => bodyOf(api.GET('/api/support/tickets/{id}', { params: { path: { id } } })),
    refetchInterval: refetchIntervalMs,
  })

export type Ticket = Schemas['Ticket']

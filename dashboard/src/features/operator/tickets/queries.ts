import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { pageOf, textOf, type Search } from '../../../url/search'
import { stateNames, toTicketFilter, type State, type TicketFilter } from '../../support/queries'

/** Stands for an operator's id: unassigned tickets. */
export const unassigned = 'none'

/** The filters of the tickets. */
export interface TicketSearch extends TicketFilter {
  search?: string | undefined
  /** The id of an operator, or `unassigned`. */
  assignee?: string | undefined
  page?: number | undefined
}

export function toTicketSearch(search: Search): TicketSearch {
  return {
    ...toTicketFilter(search),
    search: textOf(search, 'search'),
    assignee: textOf(search, 'assignee'),
    page: pageOf(search),
  }
}

export const ticketsQuery = ({ assignee, page, ...filter }: TicketSearch) =>
  queryOptions({
    queryKey: ['operator', 'tickets', 'list', { ...filter, assignee, page }],
    queryFn: async () => {
      const query = pageQuery({ ...filter, assignee_id: assignee }, page)
      const { tickets, pagination } = await bodyOf(
        api.GET('/api/admin/tickets', { params: { query } }),
      )
      return { items: tickets, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type ListedTicket = Schemas['ListedStaffTicket']

const refetchIntervalMs = 30_000

/** One ticket, polled as its owner may write meanwhile. */
export const ticketQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'tickets', 'one', id],
    queryFn: async () => bodyOf(api.GET('/api/admin/tickets/{id}', { params: { path: { id } } })),
    refetchInterval: refetchIntervalMs,
  })

export type Ticket = Schemas['StaffTicket']

/** State labels for operators. */
export const stateLabels: Readonly<Record<State, string>> = {
  ...stateNames,
  waiting_on_customer: 'Waiting for customer',
}

/** The states support may set, by the current state. Source: contract 6.12. */
export const handledTo: Readonly<Record<State, readonly State[]>> = {
  open: ['in_progress', 'resolved', 'closed'],
  in_progress: ['waiting_on_customer', 'resolved', 'closed'],
  waiting_on_customer: ['resolved', 'closed'],
  resolved: [],
  closed: [],
}

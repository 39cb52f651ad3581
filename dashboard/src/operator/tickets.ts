import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { pageQuery } from '../lists'
import { pageOf, textOf, type Search } from '../search'
import { stateNames, toTicketSearch, type State, type TicketFilter } from '../tickets'

/** Stands for an operator's id: unassigned tickets. */
export const unassigned = 'none'

/** The filters of the tickets. */
export interface QueueSearch extends TicketFilter {
  search?: string | undefined
  /** The id of an operator, or `unassigned`. */
  assignee?: string | undefined
  page?: number | undefined
}

export function toQueueSearch(search: Search): QueueSearch {
  const { status, category, priority } = toTicketSearch(search)
  return {
    search: textOf(search, 'search'),
    status,
    category,
    priority,
    assignee: textOf(search, 'assignee'),
    page: pageOf(search),
  }
}

export const queueQuery = ({ assignee, page, ...filter }: QueueSearch) =>
  queryOptions({
    queryKey: ['operator', 'tickets', 'list', { ...filter, assignee, page }],
    queryFn: async () => {
      const asked = pageQuery({ ...filter, assignee_id: assignee }, page)
      const { tickets, pagination } = await (await admin.tickets.$get(asked)).json()
      return { items: tickets, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Queued = Awaited<
  ReturnType<NonNullable<ReturnType<typeof queueQuery>['queryFn']>>
>['items'][number]

const lookEveryMs = 30_000

/** One ticket, polled as its owner may write meanwhile. */
export const handledQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'tickets', 'one', id],
    queryFn: async () => (await admin.tickets[':id'].$get({ param: { id } })).json(),
    refetchInterval: lookEveryMs,
  })

export type Handled = Awaited<ReturnType<NonNullable<ReturnType<typeof handledQuery>['queryFn']>>>

/** State labels for operators. */
export const handledNames: Readonly<Record<State, string>> = {
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

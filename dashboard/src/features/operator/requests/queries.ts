import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { countNew, lookFrom, lookMs, maxNew } from '../../../api/new-items'
import { firstPosition, rowsOnPage, toNextPosition, type Position } from '../../../api/paging'
import { isRequestId, statuses } from '../../logs/queries'
import { oneOf, present, textOf, type Search } from '../../../url/search'

/** The days before now that a list covers; those of one account reach further. */
export const rangeNames = { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days' } as const
type Range = keyof typeof rangeNames
const hourMs = 3_600_000
const rangeMs: Readonly<Record<Range, number>> = {
  hour: hourMs,
  day: 24 * hourMs,
  week: 168 * hourMs,
}
const ranges = ['hour', 'day', 'week'] as const
export const usualRange: Range = 'day'

export const statusNames = { success: 'Success', error: 'Error', cancelled: 'Cancelled' } as const

/** The filters of the requests of all accounts. */
interface RequestFilter {
  /** An id, a part of one, or a text of an error. */
  search?: string | undefined
  /** The id of an account. */
  user?: string | undefined
  range?: Range | undefined
  status?: (typeof statuses)[number] | undefined
  model?: string | undefined
  provider?: string | undefined
}

export interface RequestSearch extends RequestFilter {
  /** The id of the open request. */
  open?: string | undefined
}

export const toRequestSearch = (search: Search): RequestSearch => ({
  search: textOf(search, 'search'),
  user: textOf(search, 'user'),
  range: oneOf(search, 'range', ranges),
  status: oneOf(search, 'status', statuses),
  model: textOf(search, 'model'),
  provider: textOf(search, 'provider'),
  open: textOf(search, 'open'),
})

interface StartedPosition extends Position {
  /** When the list was first loaded: a cursor belongs to the filter it was created for. */
  startDate?: string
}

async function pageAt(filter: RequestFilter, position: StartedPosition) {
  const { search, user, range = usualRange, status, model, provider } = filter
  const startDate = position.startDate ?? new Date(Date.now() - rangeMs[range]).toISOString()
  const query = present({
    search,
    user_id: user,
    // An id is found on any day, an error on those of the range.
    start_date: search !== undefined && isRequestId(search) ? undefined : startDate,
    status,
    model,
    provider,
    limit: rowsOnPage,
    cursor: position.cursor,
  })
  const page = await bodyOf(api.GET('/api/admin/request-logs', { params: { query } }))
  return { ...page, startDate }
}

export type AnyRequest = Schemas['OperatedRequestLog']
export type AnyRequestDetails = Schemas['OperatedRequestLogDetails']

/** The requests of all accounts, newest first. */
export const requestsQuery = ({ open: _open, ...filter }: RequestSearch) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'requests', 'list', filter],
    queryFn: ({ pageParam }) => pageAt(filter, pageParam),
    initialPageParam: firstPosition,
    getNextPageParam: (last): StartedPosition | undefined => {
      const next = toNextPosition(last)
      return next && { ...next, startDate: last.startDate }
    },
    placeholderData: keepPreviousData,
  })

/** The number of requests that a loaded list of a filter does not have yet, up to `maxNew`. */
export const newRequestsQuery = (
  { open: _open, ...filter }: RequestSearch,
  logs: readonly AnyRequest[],
  loadedMs: number,
) =>
  queryOptions({
    queryKey: ['operator', 'requests', 'new', filter, loadedMs],
    queryFn: async () => {
      const { search, user, status, model, provider } = filter
      const start_date = lookFrom(logs, loadedMs)
      const query = present({
        search,
        user_id: user,
        start_date,
        status,
        model,
        provider,
        limit: maxNew,
      })
      const found = await bodyOf(api.GET('/api/admin/request-logs', { params: { query } }))
      return countNew(logs, found.logs)
    },
    // The search for one request has nothing new.
    enabled: loadedMs > 0 && !isRequestId(filter.search ?? ''),
    initialData: 0,
    refetchInterval: lookMs,
    retry: false,
  })

/** One request; each load is in the audit log, so that it is loaded once. */
export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'requests', 'one', id],
    queryFn: async () =>
      bodyOf(api.GET('/api/admin/request-logs/{id}', { params: { path: { id } } })),
    staleTime: Infinity,
  })

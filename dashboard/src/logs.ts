import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, ApiError } from './api'
import { saveFile, toCsv } from './csv'
import { oneOf, textOf, wholeOf, type Search } from './search'

const endpoint = api.account['request-logs']

export const statuses = ['success', 'error', 'cancelled'] as const

/** The colour of each log status. */
export const logColors = { success: 'green', error: 'red', cancelled: 'gray' } as const

const hourMs = 3_600_000
/** The length of each range; `between` has a start and an end. */
const rangeMs = { hour: hourMs, day: 24 * hourMs, week: 168 * hourMs, month: 720 * hourMs }
export const ranges = ['hour', 'day', 'week', 'month', 'between'] as const
export type Range = (typeof ranges)[number]

/** The filters of the log list and the open log. */
export interface LogSearch {
  range?: Range | undefined
  /** Start of `between`, in local time and the format of a datetime input. */
  from?: string | undefined
  to?: string | undefined
  status?: (typeof statuses)[number] | undefined
  model?: string | undefined
  provider?: string | undefined
  key?: string | undefined
  /** The id of a self-hosted gateway. */
  gateway?: string | undefined
  /** Minimum latency in milliseconds. */
  min?: number | undefined
  max?: number | undefined
  /** The id of the open log. */
  open?: string | undefined
}

const localTime = (text: string | undefined) =>
  text !== undefined && !Number.isNaN(Date.parse(text)) ? text : undefined

export const toLogSearch = (search: Search): LogSearch => ({
  range: oneOf(search, 'range', ranges),
  from: localTime(textOf(search, 'from')),
  to: localTime(textOf(search, 'to')),
  status: oneOf(search, 'status', statuses),
  model: textOf(search, 'model'),
  provider: textOf(search, 'provider'),
  key: textOf(search, 'key'),
  gateway: textOf(search, 'gateway'),
  min: wholeOf(search, 'min'),
  max: wholeOf(search, 'max'),
  open: textOf(search, 'open'),
})

export const usualRange: Range = 'month'

type Filter = Omit<LogSearch, 'open'>

/** The filter without the open log: opening a log must not reload the list. */
export const filterOf = ({ open: _open, ...filter }: LogSearch): Filter => filter

const timestampOf = (local: string | undefined) => local && new Date(local).toISOString()

/** A filter as query parameters; `nowMs` is the end of a range that ends now. */
function queryOf(filter: Filter, nowMs: number): Record<string, string> {
  const { range = usualRange, from, to, status, model, provider, key, gateway, min, max } = filter
  const start =
    range === 'between' ? timestampOf(from) : new Date(nowMs - rangeMs[range]).toISOString()
  const wanted = {
    start_date: start,
    end_date: range === 'between' ? timestampOf(to) : undefined,
    status,
    model,
    provider,
    api_key_id: key,
    gateway_id: gateway,
    min_latency: min?.toString(),
    max_latency: max?.toString(),
  }
  const given = Object.entries(wanted).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(given)
}

interface Place {
  /** When the list was first loaded: a cursor belongs to the filter it was created for. */
  nowMs: number
  cursor: string | undefined
}

const begin: Place = { nowMs: 0, cursor: undefined }

async function pageAt(filter: Filter, place: Place, size: number) {
  const nowMs = place.nowMs || Date.now()
  const query = {
    ...queryOf(filter, nowMs),
    limit: String(size),
    ...(place.cursor !== undefined && { cursor: place.cursor }),
  }
  const { logs, pagination } = await (await endpoint.$get({ query })).json()
  const cursor = pagination.next_cursor ?? undefined
  return {
    logs,
    total: pagination.total,
    next: cursor === undefined ? undefined : { nowMs, cursor },
  }
}

const pageSize = 50

export const logsQuery = (filter: Filter) =>
  infiniteQueryOptions({
    queryKey: ['logs', 'list', filter],
    queryFn: ({ pageParam }) => pageAt(filter, pageParam, pageSize),
    initialPageParam: begin,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  })

export type ListedLog = Awaited<ReturnType<typeof pageAt>>['logs'][number]

export const statsQuery = (filter: Filter) =>
  queryOptions({
    queryKey: ['logs', 'stats', filter],
    queryFn: async () => (await endpoint.stats.$get({ query: queryOf(filter, Date.now()) })).json(),
    placeholderData: keepPreviousData,
  })

export type LogStats = Awaited<ReturnType<NonNullable<ReturnType<typeof statsQuery>['queryFn']>>>

export const detailsQuery = (id: string) =>
  queryOptions({
    queryKey: ['logs', 'one', id],
    queryFn: async () => (await endpoint[':id'].details.$get({ param: { id } })).json(),
  })

export type LogDetails = Awaited<
  ReturnType<NonNullable<ReturnType<typeof detailsQuery>['queryFn']>>
>

/** The maximum number of rows in a file: the browser holds them all in memory. */
export const mostExported = 100_000
const exportSize = 100

const columns = [
  'id',
  'created_at',
  'status',
  'status_code',
  'requested_model',
  'model',
  'provider',
  'latency_ms',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cost',
  'billing_mode',
  'api_key_prefix',
] as const satisfies readonly (keyof ListedLog)[]

export interface Progress {
  saved: number
  total: number
}

interface Exporting {
  /** Aborted when the export is cancelled. */
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

/**
 * Saves the newest logs of a filter as a file. Resolves with the number saved and the total. The export
 * waits when it reaches the account's rate limit, however many pages it takes.
 */
export async function exportLogs(
  filter: Filter,
  { signal, onProgress }: Exporting,
): Promise<Progress> {
  const rows: ListedLog[] = []
  let place: Place | undefined = begin
  let total = 0
  while (place && rows.length < mostExported) {
    const page = await patiently(filter, place, signal)
    rows.push(...page.logs)
    total = Math.max(total, page.total)
    place = page.next
    onProgress({ saved: rows.length, total })
  }
  saveFile('request-logs.csv', toCsv<ListedLog>(columns, rows), 'text/csv;charset=utf-8')
  return { saved: rows.length, total }
}

const tooMany = 429
const usualWaitMs = 5000

/** Loads a page, waiting as long as the rate limit requires. */
async function patiently(filter: Filter, place: Place, signal: AbortSignal) {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await pageAt(filter, place, exportSize)
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.status !== tooMany) throw thrown
      const waitMs = thrown.retryAfterMs ?? usualWaitMs
      await new Promise((resolve) => {
        setTimeout(resolve, waitMs)
        signal.addEventListener('abort', resolve, { once: true })
      })
    }
  }
}

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, ApiError, bodyOf, type Schemas } from '../../api/client'
import { countNew, lookFrom, lookMs, maxNew } from '../../api/new-items'
import { saveFile, toCsv } from '../../format/csv'
import type { StoredBodies } from './stored-bodies'
import { oneOf, textOf, integerOf, type Search } from '../../url/search'

export const statuses = ['success', 'error', 'cancelled'] as const

/** The color of each log status. */
export const logColors = { success: 'green', error: 'red', cancelled: 'gray' } as const

const hourMs = 3_600_000
/** The length of each range; `between` has a start and an end. */
const rangeMs = { hour: hourMs, day: 24 * hourMs, week: 168 * hourMs, month: 720 * hourMs }
export const ranges = ['hour', 'day', 'week', 'month', 'between'] as const
export type Range = (typeof ranges)[number]

/** The filters of the log list and the open log. */
export interface LogSearch {
  /** An id, a part of one, or a text of an error. */
  search?: string | undefined
  range?: Range | undefined
  /** Start of `between`, in local time and the format of a datetime input. */
  from?: string | undefined
  to?: string | undefined
  status?: (typeof statuses)[number] | undefined
  model?: string | undefined
  provider?: string | undefined
  key?: string | undefined
  tag?: string | undefined
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
  search: textOf(search, 'search'),
  range: oneOf(search, 'range', ranges),
  from: localTime(textOf(search, 'from')),
  to: localTime(textOf(search, 'to')),
  status: oneOf(search, 'status', statuses),
  model: textOf(search, 'model'),
  provider: textOf(search, 'provider'),
  key: textOf(search, 'key'),
  tag: textOf(search, 'tag'),
  gateway: textOf(search, 'gateway'),
  min: integerOf(search, 'min'),
  max: integerOf(search, 'max'),
  open: textOf(search, 'open'),
})

export const usualRange: Range = 'month'

type Filter = Omit<LogSearch, 'open'>

/** The filter without the open log: opening a log must not reload the list. */
export const filterOf = ({ open: _open, ...filter }: LogSearch): Filter => filter

const idForm = /^(req_|chatcmpl-|cmpl-|resp_|msg_)[0-9a-hjkmnp-tv-z]{4,29}$/i
/** Whether a text is the id of a request or of its answer, or the first characters of one. */
export const isRequestId = (text: string) => idForm.test(text)
const wholeId = /^(?:req_|chatcmpl-|cmpl-|resp_|msg_)([0-9a-hjkmnp-tv-z]{26})$/i
/** Returns the id of the request that a whole id, of it or of its answer, stands for. */
export function toRequestId(text: string): string | undefined {
  const [, body] = wholeId.exec(text) ?? []
  return body && `req_${body.toLowerCase()}`
}

const timestampOf = (local: string | undefined) => local && new Date(local).toISOString()

/** A filter as query parameters; `nowMs` is the end of a range that ends now. */
function queryOf(filter: Filter, nowMs: number): Record<string, string> {
  const { search, range = usualRange, from, to, status, model, provider } = filter
  const { key, tag, gateway, min, max } = filter
  const start =
    range === 'between' ? timestampOf(from) : new Date(nowMs - rangeMs[range]).toISOString()
  const parameters = {
    search,
    // An id is found on any day.
    start_date: search !== undefined && isRequestId(search) ? undefined : start,
    end_date: range === 'between' ? timestampOf(to) : undefined,
    status,
    model,
    provider,
    api_key_id: key,
    tag,
    gateway_id: gateway,
    min_latency: min?.toString(),
    max_latency: max?.toString(),
  }
  const entries = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(entries)
}

interface LogPosition {
  /** When the list was first loaded: a cursor belongs to the filter it was created for. */
  nowMs: number
  cursor: string | undefined
}

const begin: LogPosition = { nowMs: 0, cursor: undefined }

async function pageAt(filter: Filter, position: LogPosition, size: number) {
  const nowMs = position.nowMs || Date.now()
  const query = {
    ...queryOf(filter, nowMs),
    limit: size,
    ...(position.cursor !== undefined && { cursor: position.cursor }),
  }
  const { logs, pagination } = await bodyOf(
    api.GET('/api/account/request-logs', { params: { query } }),
  )
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

export type ListedLog = Schemas['ListedRequestLog']

/** The number of requests that a loaded list of a filter does not have yet, up to `maxNew`. */
export const newLogsQuery = (filter: Filter, logs: readonly ListedLog[], loadedMs: number) =>
  queryOptions({
    queryKey: ['logs', 'new', filter, loadedMs],
    queryFn: async () => {
      const start_date = lookFrom(logs, loadedMs)
      const query = { ...queryOf(filter, loadedMs), start_date, limit: maxNew }
      const found = await bodyOf(api.GET('/api/account/request-logs', { params: { query } }))
      return countNew(logs, found.logs)
    },
    // A range with an end, and the search for one request, have nothing new.
    enabled: loadedMs > 0 && filter.range !== 'between' && !isRequestId(filter.search ?? ''),
    initialData: 0,
    refetchInterval: lookMs,
    retry: false,
  })

export const statsQuery = (filter: Filter) =>
  queryOptions({
    queryKey: ['logs', 'stats', filter],
    queryFn: async () =>
      bodyOf(
        api.GET('/api/account/request-logs/stats', {
          params: { query: queryOf(filter, Date.now()) },
        }),
      ),
    placeholderData: keepPreviousData,
  })

export type LogStats = Schemas['RequestLogStats']

export const detailsQuery = (id: string) =>
  queryOptions({
    queryKey: ['logs', 'one', id],
    queryFn: async () =>
      bodyOf(api.GET('/api/account/request-logs/{id}/details', { params: { path: { id } } })),
  })

export type LogDetails = Schemas['RequestLogDetails']

/** A request as its account sees it, or an operator, who sees no bodies. */
export type RequestDetails = Omit<LogDetails, 'request_body' | 'response_body'> & StoredBodies

/** The maximum number of rows in a file: the browser holds them all in memory. */
export const maxExported = 100_000
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
  'images',
  'sound_seconds',
  'speech_characters',
  'speech_seconds',
  'cost',
  'billing_mode',
  'payer',
  'payer_name',
  'api_key_prefix',
  'tags',
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
  let position: LogPosition | undefined = begin
  let total = 0
  while (position && rows.length < maxExported) {
    const page = await pageWithRetries(filter, position, signal)
    rows.push(...page.logs)
    total = Math.max(total, page.total)
    position = page.next
    onProgress({ saved: rows.length, total })
  }
  const lines = rows.map((row) => ({ ...row, tags: row.tags.join(', ') }))
  saveFile('request-logs.csv', toCsv(columns, lines), 'text/csv;charset=utf-8')
  return { saved: rows.length, total }
}

const tooManyRequests = 429
const usualWaitMs = 5000

/** Loads a page, waiting as long as the rate limit requires. */
async function pageWithRetries(filter: Filter, position: LogPosition, signal: AbortSignal) {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await pageAt(filter, position, exportSize)
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.status !== tooManyRequests) throw thrown
      // An event that has passed wakes nothing up.
      signal.throwIfAborted()
      const waitMs = thrown.retryAfterMs ?? usualWaitMs
      await new Promise((resolve) => {
        setTimeout(resolve, waitMs)
        signal.addEventListener('abort', resolve, { once: true })
      })
    }
  }
}

/** The keys by which logs are filtered. */
export const logKeysQuery = queryOptions({
  queryKey: ['logs', 'keys'],
  queryFn: async () => (await bodyOf(api.GET('/api/account/keys'))).keys,
})

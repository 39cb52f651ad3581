import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../api/client'
import { isRequestId } from '../features/logs/queries'

/** A request that was found; one of another account, which an operator found, names it. */
export interface FoundRequest extends Pick<
  Schemas['ListedRequestLog'],
  'id' | 'status' | 'status_code' | 'model' | 'error' | 'created_at'
> {
  email?: string | null
  user_id?: string
}

const minText = 3
const maxFound = 6

/** Whether requests are searched by a text: the name of a page mostly is a word, an error more than that. */
export const isSearchable = (text: string) => isRequestId(text) || text.length >= minText

const searchedMs = 7 * 86_400_000

/** The days in which errors are searched; an id is found on any day. */
const periodOf = (text: string) =>
  isRequestId(text) ? {} : { start_date: new Date(Date.now() - searchedMs).toISOString() }

/** Finds the account's requests, and for an operator those of all accounts. */
export const foundQuery = (text: string, isOperator: boolean) =>
  queryOptions({
    queryKey: ['logs', 'found', text, isOperator],
    queryFn: async (): Promise<FoundRequest[]> => {
      const params = { query: { search: text, limit: maxFound, ...periodOf(text) } }
      const [own, all] = await Promise.all([
        bodyOf(api.GET('/api/account/request-logs', { params })),
        isOperator ? bodyOf(api.GET('/api/admin/request-logs', { params })) : { logs: [] },
      ])
      const ownIds = new Set(own.logs.map(({ id }) => id))
      return [...own.logs, ...all.logs.filter(({ id }) => !ownIds.has(id))]
    },
  })

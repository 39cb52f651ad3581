import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { oneOf, type Search } from '../../url/search'

export const noticeKinds = [
  'alert',
  'alert_test',
  'low_balance',
  'budget',
  'key_expiring',
  'connection_failing',
  'quota_request',
  'ticket_reply',
  'invitation',
  'system',
] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** The filters of the inbox. */
export interface InboxSearch {
  unread?: true | undefined
  kind?: NoticeKind | undefined
}

export const toInboxSearch = (search: Search): InboxSearch => ({
  unread: search['unread'] === true ? true : undefined,
  kind: oneOf(search, 'kind', noticeKinds),
})

async function pageAt({ unread, kind }: InboxSearch, cursor: string) {
  const query = {
    limit: 20,
    ...(unread && { unread: true }),
    ...(kind !== undefined && { kind }),
    ...(cursor !== '' && { cursor }),
  }
  return bodyOf(api.GET('/api/account/notifications', { params: { query } }))
}

const refetchIntervalMs = 60_000

export const inboxQuery = (search: InboxSearch) =>
  infiniteQueryOptions({
    queryKey: ['inbox', 'list', search],
    queryFn: ({ pageParam }) => pageAt(search, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: refetchIntervalMs,
  })

export type Notice = Schemas['Notification']

/** The number of unread notifications. */
export const unreadQuery = queryOptions({
  queryKey: ['inbox', 'unread'],
  queryFn: async () =>
    (await bodyOf(api.GET('/api/account/notifications', { params: { query: { limit: 1 } } })))
      .unread_count,
  refetchInterval: refetchIntervalMs,
})

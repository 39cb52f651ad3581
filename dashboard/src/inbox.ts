import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from './api'
import { oneOf, type Search } from './search'

export const inboxEndpoint = api.account.notifications

export const noticeKinds = [
  'alert',
  'alert_test',
  'low_balance',
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
    limit: '20',
    ...(unread && { unread: 'true' }),
    ...(kind !== undefined && { kind }),
    ...(cursor !== '' && { cursor }),
  }
  return (await inboxEndpoint.$get({ query })).json()
}

const lookEveryMs = 60_000

export const inboxQuery = (search: InboxSearch) =>
  infiniteQueryOptions({
    queryKey: ['inbox', 'list', search],
    queryFn: ({ pageParam }) => pageAt(search, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: lookEveryMs,
  })

export type Notice = Awaited<ReturnType<typeof pageAt>>['notifications'][number]

/** The number of unread notifications. */
export const unreadQuery = queryOptions({
  queryKey: ['inbox', 'unread'],
  queryFn: async () =>
    (await (await inboxEndpoint.$get({ query: { limit: '1' } })).json()).unread_count,
  refetchInterval: lookEveryMs,
})

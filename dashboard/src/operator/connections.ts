import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { pageQuery } from '../lists'
import { pageOf, textOf, type Search } from '../search'

/** The filters of the platform connections. */
export interface ConnectionSearch {
  search?: string | undefined
  page?: number | undefined
}

export const toConnectionSearch = (search: Search): ConnectionSearch => ({
  search: textOf(search, 'search'),
  page: pageOf(search),
})

export const platformConnectionsQuery = ({ search, page }: ConnectionSearch) =>
  queryOptions({
    queryKey: ['operator', 'connections', 'list', { search, page }],
    queryFn: async () => {
      const answer = await admin.connections.$get(pageQuery({ search }, page))
      const { connections, pagination } = await answer.json()
      return { items: connections, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type PlatformConnection = Awaited<
  ReturnType<NonNullable<ReturnType<typeof platformConnectionsQuery>['queryFn']>>
>['items'][number]

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { pageOf, textOf, type Search } from '../../../url/search'

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
      const answer = await bodyOf(
        api.GET('/api/admin/connections', {
          params: { query: pageQuery({ search }, page) },
        }),
      )
      const { connections, pagination } = answer
      return { items: connections, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

/** Fields that are always null are not in the types of openapi-fetch. */
export type PlatformConnection = Omit<
  Schemas['PlatformConnection'],
  'organization_id' | 'billing_mode'
>

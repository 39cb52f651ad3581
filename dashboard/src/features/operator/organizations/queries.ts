import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { pageOf, textOf, type Search } from '../../../url/search'

/** The filters of the organizations. */
export interface OrganizationSearch {
  search?: string | undefined
  page?: number | undefined
}

export const toOrganizationSearch = (search: Search): OrganizationSearch => ({
  search: textOf(search, 'search'),
  page: pageOf(search),
})

export const operatedQuery = ({ search, page }: OrganizationSearch) =>
  queryOptions({
    queryKey: ['operator', 'organizations', 'list', { search, page }],
    queryFn: async () => {
      const answer = await bodyOf(
        api.GET('/api/admin/organizations', {
          params: { query: pageQuery({ search }, page) },
        }),
      )
      const { organizations, pagination } = answer
      return { items: organizations, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Operated = Schemas['OperatedOrganizationAnswer']

export const operatedOneQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'organizations', 'one', id],
    queryFn: async () =>
      bodyOf(api.GET('/api/admin/organizations/{id}', { params: { path: { id } } })),
  })

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { pageQuery } from '../lists'
import { pageOf, textOf, type Search } from '../search'

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
      const answer = await admin.organizations.$get(pageQuery({ search }, page))
      const { organizations, pagination } = await answer.json()
      return { items: organizations, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Operated = Awaited<
  ReturnType<NonNullable<ReturnType<typeof operatedQuery>['queryFn']>>
>['items'][number]

export const operatedOneQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'organizations', 'one', id],
    queryFn: async () => (await admin.organizations[':id'].$get({ param: { id } })).json(),
  })

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { pageQuery } from '../lists'
import { oneOf, pageOf, textOf, type Search } from '../search'

export const decisions = ['pending', 'approved', 'rejected', 'all'] as const

/** The filters of the quota requests; pending ones by default. */
export interface DecisionSearch {
  search?: string | undefined
  status?: (typeof decisions)[number] | undefined
  page?: number | undefined
}

export const toDecisionSearch = (search: Search): DecisionSearch => ({
  search: textOf(search, 'search'),
  status: oneOf(search, 'status', decisions),
  page: pageOf(search),
})

export const decisionsQuery = ({ search, status = 'pending', page }: DecisionSearch) =>
  queryOptions({
    queryKey: ['operator', 'quota-requests', { search, status, page }],
    queryFn: async () => {
      const asked = pageQuery({ search, status: status === 'all' ? undefined : status }, page)
      const answer = await (await admin['quota-requests'].$get(asked)).json()
      return { items: answer.quota_requests, total: answer.pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Asked = Awaited<
  ReturnType<NonNullable<ReturnType<typeof decisionsQuery>['queryFn']>>
>['items'][number]

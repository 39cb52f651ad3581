import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { oneOf, pageOf, textOf, type Search } from '../../../url/search'

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
      const query = pageQuery({ search, status: status === 'all' ? undefined : status }, page)
      const answer = await bodyOf(api.GET('/api/admin/quota-requests', { params: { query } }))
      return { items: answer.quota_requests, total: answer.pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type DecidedQuotaRequest = Schemas['DecidedQuotaRequest']

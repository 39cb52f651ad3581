import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { pageQuery } from '../lists'
import { oneOf, pageOf, textOf, type Search } from '../search'

export const userStates = ['active', 'suspended'] as const
export type UserState = (typeof userStates)[number]

/** Which accounts are listed. */
export interface UserSearch {
  search?: string | undefined
  status?: UserState | undefined
  plan?: string | undefined
  page?: number | undefined
}

export const toUserSearch = (search: Search): UserSearch => ({
  search: textOf(search, 'search'),
  status: oneOf(search, 'status', userStates),
  plan: textOf(search, 'plan'),
  page: pageOf(search),
})

export const usersQuery = ({ search, status, plan, page }: UserSearch) =>
  queryOptions({
    queryKey: ['operator', 'users', 'list', { search, status, plan, page }],
    queryFn: async () => {
      const asked = pageQuery({ search, status, plan_id: plan }, page)
      const { users, pagination } = await (await admin.users.$get(asked)).json()
      return { items: users, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type User = Awaited<
  ReturnType<NonNullable<ReturnType<typeof usersQuery>['queryFn']>>
>['items'][number]

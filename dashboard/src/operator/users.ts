import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { pageQuery } from '../lists'
import { oneOf, pageOf, textOf, type Search } from '../search'

const userStates = ['active', 'suspended'] as const
type UserState = (typeof userStates)[number]

export const userStateNames: Readonly<Record<UserState, string>> = {
  active: 'Active',
  suspended: 'Suspended',
}

/** The filters of the users. */
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

export const userQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'users', 'one', id],
    queryFn: async () => (await admin.users[':id'].$get({ param: { id } })).json(),
  })

export const userKeysQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'users', 'keys', id],
    queryFn: async () =>
      (await (await admin.users[':id'].keys.$get({ param: { id } })).json()).keys,
  })

/** Operators to whom tickets can be assigned, the latest hundred. */
export const operatorsQuery = queryOptions({
  queryKey: ['operator', 'users', 'operators'],
  queryFn: async () => {
    const query = { is_operator: 'true', status: 'active', limit: '100' }
    return (await (await admin.users.$get({ query })).json()).users
  },
})

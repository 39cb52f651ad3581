import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { oneOf, pageOf, textOf, type Search } from '../../../url/search'

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
      const query = pageQuery({ search, status, plan_id: plan }, page)
      const { users, pagination } = await bodyOf(api.GET('/api/admin/users', { params: { query } }))
      return { items: users, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type User = Schemas['User']

export const userQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'users', 'one', id],
    queryFn: async () => bodyOf(api.GET('/api/admin/users/{id}', { params: { path: { id } } })),
  })

export const userKeysQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'users', 'keys', id],
    queryFn: async () =>
      (await bodyOf(api.GET('/api/admin/users/{id}/keys', { params: { path: { id } } }))).keys,
  })

const assignedRoles = ['operator', 'support'] as const

/** Operators and support to whom tickets can be assigned, the latest hundred of each. */
export const operatorsQuery = queryOptions({
  queryKey: ['operator', 'users', 'operators'],
  queryFn: async () => {
    const lists = await Promise.all(
      assignedRoles.map((role) => {
        const query = { operator_role: role, status: 'active' as const, limit: 100 }
        return bodyOf(api.GET('/api/admin/users', { params: { query } }))
      }),
    )
    return lists.flatMap(({ users }) => users)
  },
})

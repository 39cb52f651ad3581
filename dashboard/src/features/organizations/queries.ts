import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

/** Organizations of the account, whatever its membership status. */
export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: async () => (await bodyOf(api.GET('/api/organizations'))).organizations,
})

export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: ['organizations', id],
    queryFn: async () => bodyOf(api.GET('/api/organizations/{id}', { params: { path: { id } } })),
  })

export type Organization = Schemas['Organization']

/** Pending invitations to the account's own address. */
export const ownInvitationsQuery = queryOptions({
  queryKey: ['own-invitations'],
  queryFn: async () => (await bodyOf(api.GET('/api/organizations/invitations'))).invitations,
})

export type Role = Organization['role']

/** Whether the role manages members and settings. Source: contract 2.4. */
export const isManager = ({ role }: Pick<Organization, 'role'>) =>
  role === 'owner' || role === 'admin'

/** The roles a member may assign; an owner who appoints another owner becomes admin. */
export const rolesBelow = (role: Role): Role[] =>
  role === 'owner'
    ? ['owner', 'admin', 'developer', 'viewer', 'member']
    : ['developer', 'viewer', 'member']

/** The roles of an invitation. */
export type InvitedRole = Exclude<Role, 'owner'>
export const invitedBy = (role: Role): InvitedRole[] =>
  rolesBelow(role).flatMap((one) => (one === 'owner' ? [] : [one]))

/** The latest hundred invitations of any status. */
export const invitationsQuery = (id: string) =>
  queryOptions({
    queryKey: ['organizations', id, 'invitations'],
    queryFn: async () => {
      const query = { limit: 100 }
      return (
        await bodyOf(
          api.GET('/api/organizations/{id}/invitations', { params: { path: { id }, query } }),
        )
      ).invitations
    },
  })

export type Invitation = Schemas['Invitation']
export type Member = Schemas['Member']

const membersKey = (id: string) => ['organizations', id, 'members']

export const memberPageSize = 50

/** A page of the members of an organization. */
export const membersQuery = (id: string, { search, page }: { search: string; page: number }) =>
  queryOptions({
    queryKey: [...membersKey(id), search, page],
    queryFn: async () => {
      const offset = (page - 1) * memberPageSize
      const query = { limit: memberPageSize, offset, ...(search && { search }) }
      return bodyOf(api.GET('/api/organizations/{id}/members', { params: { path: { id }, query } }))
    },
    placeholderData: keepPreviousData,
  })

/** Members for a select. */
export const allMembersQuery = (id: string) =>
  queryOptions({
    queryKey: [...membersKey(id), 'all'],
    queryFn: async () => {
      const params = { path: { id }, query: { limit: 100 } }
      return (await bodyOf(api.GET('/api/organizations/{id}/members', { params }))).members
    },
  })

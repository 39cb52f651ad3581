import { queryOptions } from '@tanstack/react-query'
import { api } from './api'

/** Organizations of the account, whatever its membership status. */
export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: async () => (await (await api.organizations.$get()).json()).organizations,
})

export const organizationQuery = (id: string) =>
  queryOptions({
    queryKey: ['organizations', id],
    queryFn: async () => (await api.organizations[':id'].$get({ param: { id } })).json(),
  })

export type Organization = Awaited<
  ReturnType<NonNullable<ReturnType<typeof organizationQuery>['queryFn']>>
>

/** Pending invitations to the account's own address. */
export const ownInvitationsQuery = queryOptions({
  queryKey: ['own-invitations'],
  queryFn: async () => (await (await api.organizations.invitations.$get()).json()).invitations,
})

export type Role = Organization['role']

/** Whether the role manages members and settings. Source: contract 2.4. */
export const isManager = ({ role }: Organization) => role === 'owner' || role === 'admin'

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
      const asked = { param: { id }, query: { limit: '100' } }
      return (await (await api.organizations[':id'].invitations.$get(asked)).json()).invitations
    },
  })

export type Invitation = Awaited<
  ReturnType<NonNullable<ReturnType<typeof invitationsQuery>['queryFn']>>
>[number]

type Listed = Awaited<
  ReturnType<Awaited<ReturnType<(typeof api.organizations)[':id']['members']['$get']>>['json']>
>
export type Member = Listed['members'][number]

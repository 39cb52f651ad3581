import {
  BulkResult,
  Invitation,
  InvitationFilters,
  InvitationList,
  NewInvitation,
  NewInvitations,
  OwnInvitations,
} from './invitation-schema'
import type { InvitationStore } from './invitations'
import type { OwnInvitationStore } from './own-invitations'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

export interface InvitationStores {
  invitations: InvitationStore
  ownInvitations: OwnInvitationStore
}

const tag = 'Organizations'
const ownPath = '/api/organizations/invitations'
const path = '/api/organizations/:id/invitations'
const invitePath = '/api/organizations/:id/members/invite'

const ofOrganization = { id: objectId('org').describe('ID of the organization') }
const ofOwnInvitation = { inv_id: objectId('inv').describe('ID of the invitation') }
const ofInvitation = { ...ofOrganization, ...ofOwnInvitation }

const managing = account('admin', { tenant: 'organization' })

/**
 * Invitations, for inviters and for invited accounts. They must be mounted before the routes of organizations,
 * of which `invitations` is no id. Source: contract 7.4.
 */
export const invitationRoutes = ({ invitations, ownInvitations }: InvitationStores): Route[] => [
  listOwnInvitations(ownInvitations),
  acceptInvitation(ownInvitations),
  declineInvitation(ownInvitations),
  inviteMember(invitations),
  inviteMembers(invitations),
  listInvitations(invitations),
  resendInvitation(invitations),
  revokeInvitation(invitations),
]

const listOwnInvitations = (invitations: OwnInvitationStore) =>
  route({
    method: 'get',
    path: ownPath,
    access: account('read'),
    operationId: 'listOwnInvitations',
    tag,
    summary: 'List the invitations that you have received',
    notes: 'Pending invitations for your e-mail address, once you have verified it.',
    responses: { 200: OwnInvitations },
    handler: ({ principal }) => invitations.list(principal),
  })

const acceptInvitation = (invitations: OwnInvitationStore) =>
  route({
    method: 'post',
    path: `${ownPath}/:inv_id/accept`,
    access: account('admin'),
    operationId: 'acceptInvitation',
    tag,
    summary: 'Accept an invitation',
    notes:
      'You become a member of the organization. Only for the invited address. Rejected if the organization is full or the invitation has expired.',
    params: ofOwnInvitation,
    responses: { 200: Invitation },
    handler: ({ principal, params: { inv_id: id } }) => invitations.accept(principal, id),
  })

const declineInvitation = (invitations: OwnInvitationStore) =>
  route({
    method: 'post',
    path: `${ownPath}/:inv_id/decline`,
    access: account('admin'),
    operationId: 'declineInvitation',
    tag,
    summary: 'Decline an invitation',
    notes: 'Only for the invited address.',
    params: ofOwnInvitation,
    responses: { 200: Invitation },
    handler: ({ principal, params: { inv_id: id } }) => invitations.decline(principal, id),
  })

const inviteMember = (invitations: InvitationStore) =>
  route({
    method: 'post',
    path: invitePath,
    access: managing,
    operationId: 'inviteMember',
    tag,
    summary: 'Invite an e-mail address',
    notes:
      'For 7 days. Sends a mail and, if the address has an account, a notification; at most 20 a day. Owners can assign every role below their own, admins every role below admin.',
    params: ofOrganization,
    body: NewInvitation,
    examples: { 'A developer': { email: 'ada@example.com', role: 'developer' } },
    responses: { 201: Invitation },
    handler: ({ principal, params, body }) =>
      invitations.invite({ caller: principal, organizationId: params.id }, body),
  })

const inviteMembers = (invitations: InvitationStore) =>
  route({
    method: 'post',
    path: `${invitePath}/bulk`,
    access: managing,
    operationId: 'inviteMembers',
    tag,
    summary: 'Invite several e-mail addresses',
    notes:
      'Takes up to 100 invitations and validates each alone: `errors` lists those that failed, by `index`. The response is 400 if all failed.',
    params: ofOrganization,
    body: NewInvitations,
    examples: {
      Two: { invitations: [{ email: 'ada@example.com' }, { email: 'alan@example.com' }] },
    },
    responses: { 201: BulkResult },
    handler: ({ principal, params, body }) =>
      invitations.inviteAll({ caller: principal, organizationId: params.id }, body.invitations),
  })

const listInvitations = (invitations: InvitationStore) =>
  route({
    method: 'get',
    path,
    access: managing,
    operationId: 'listInvitations',
    tag,
    summary: 'List the invitations of an organization',
    notes: 'For owners and admins.',
    params: ofOrganization,
    query: InvitationFilters.extend(pageFields),
    responses: { 200: InvitationList },
    handler({ principal, params: { id }, query: { limit, offset, cursor, ...filters } }) {
      const scope = `invitations ${principal.userId} ${id} ${filters.status ?? ''}`
      const page = toPage({ limit, offset, cursor }, scope)
      return invitations.list({ caller: principal, organizationId: id }, filters, page)
    },
  })

const resendInvitation = (invitations: InvitationStore) =>
  route({
    method: 'post',
    path: `${path}/:inv_id/resend`,
    access: managing,
    operationId: 'resendInvitation',
    tag,
    summary: 'Resend an invitation',
    notes: 'Its 7 days start again. For owners and admins; counts toward the 20 mails a day.',
    params: ofInvitation,
    responses: { 200: Invitation },
    handler: ({ principal, params }) =>
      invitations.resend({ caller: principal, organizationId: params.id }, params.inv_id),
  })

const revokeInvitation = (invitations: InvitationStore) =>
  route({
    method: 'delete',
    path: `${path}/:inv_id`,
    access: managing,
    operationId: 'revokeInvitation',
    tag,
    summary: 'Revoke an invitation',
    notes: 'For owners and admins. An accepted or declined invitation cannot be revoked.',
    params: ofInvitation,
    responses: { 200: Success },
    handler: ({ principal, params }) =>
      invitations.revoke({ caller: principal, organizationId: params.id }, params.inv_id),
  })

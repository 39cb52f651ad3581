import {
  BulkResult,
  DescribedInvitations,
  Invitation,
  InvitationList,
  NewInvitation,
  OwnInvitations,
} from './invitation-schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Organizations'
const path = ['id'] as const
const ofInvitation = ['id', 'inv_id'] as const

export const inviteMember = accountRoute({
  operationId: 'inviteMember',
  summary: 'Invite an e-mail address into an organization, for 7 days',
  tag,
  status: 201,
  answer: Invitation,
  path,
  body: [
    'NewInvitation',
    NewInvitation,
    { 'A developer': { email: 'ada@example.com', role: 'developer' } },
  ],
})

export const inviteMembers = accountRoute({
  operationId: 'inviteMembers',
  summary: 'Invite several addresses, each judged alone',
  tag,
  status: 201,
  answer: BulkResult,
  path,
  body: [
    'NewInvitations',
    DescribedInvitations,
    { Two: { invitations: [{ email: 'ada@example.com' }, { email: 'alan@example.com' }] } },
  ],
})

export const listInvitations = accountRoute({
  operationId: 'listInvitations',
  summary: 'Whom an organization has invited',
  tag,
  answer: InvitationList,
  path,
  query: ['status', ...paging],
})

export const resendInvitation = accountRoute({
  operationId: 'resendInvitation',
  summary: 'Mail an invitation again; its 7 days begin anew',
  tag,
  answer: Invitation,
  path: ofInvitation,
})

export const revokeInvitation = accountRoute({
  operationId: 'revokeInvitation',
  summary: 'Take an invitation back',
  tag,
  answer: Done,
  path: ofInvitation,
})

export const listOwnInvitations = accountRoute({
  operationId: 'listOwnInvitations',
  summary: 'The invitations that wait for your answer',
  tag,
  answer: OwnInvitations,
})

export const acceptInvitation = accountRoute({
  operationId: 'acceptInvitation',
  summary: 'Become a member of the organization that invited you',
  tag,
  answer: Invitation,
  path: ['inv_id'],
})

export const declineInvitation = accountRoute({
  operationId: 'declineInvitation',
  summary: 'Decline an invitation',
  tag,
  answer: Invitation,
  path: ['inv_id'],
})

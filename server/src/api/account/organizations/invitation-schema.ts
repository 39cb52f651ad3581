import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { bulkItems } from '../../../http/bulk'
import { Pagination } from '../../../http/paging'

const statuses = ['pending', 'accepted', 'declined', 'revoked', 'expired'] as const

/** Ownership is transferred, never given by an invitation. */
const invitedRoles = ['admin', 'developer', 'viewer', 'member'] as const

const email = z.string().trim().toLowerCase().max(254).check(z.email())
const role = z
  .enum(invitedRoles)
  .nullish()
  .transform((value) => value ?? 'member')

/** Source: contract 7.4. */
export const NewInvitation = z
  .object({ email, role, message: z.string().trim().max(500).optional() })
  .meta({ ref: 'NewInvitation' })
export type NewInvitation = z.output<typeof NewInvitation>

/** A bulk request. */
export const NewInvitations = z
  .object({ invitations: bulkItems(z.object({ email, role })) })
  .meta({ ref: 'NewInvitations' })

export const InvitationFilters = z.object({
  status: z.enum(statuses).optional().describe('Only invitations with this status'),
})
export type InvitationFilters = z.output<typeof InvitationFilters>

export const Invitation = z
  .object({
    id: objectId('inv'),
    organization_id: objectId('org'),
    organization_name: z.string(),
    inviter_name: z.string().nullable().describe('The display name of the member who invites'),
    email: z.string(),
    role: z.enum(invitedRoles),
    message: z.string().nullable(),
    status: z.enum(statuses),
    expires_at: z.iso.datetime(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'Invitation' })
export type Invitation = z.output<typeof Invitation>

export const InvitationList = z
  .object({ invitations: z.array(Invitation), pagination: Pagination })
  .meta({ ref: 'InvitationList' })

export const OwnInvitations = z
  .object({ invitations: z.array(Invitation) })
  .meta({ ref: 'OwnInvitations' })

export const BulkResult = z
  .object({
    created: z.int(),
    failed: z.int(),
    invitations: z.array(Invitation),
    errors: z.array(
      z.object({ index: z.int(), param: z.string().nullable(), message: z.string() }),
    ),
  })
  .meta({ ref: 'InvitationBulkResult' })

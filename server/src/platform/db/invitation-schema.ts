import type { Generated, GeneratedAlways } from 'kysely'
import type { CreatedColumn } from './column-types'

/** An invitation to an organization, addressed to an e-mail address. */
export interface InvitationRow {
  id: string
  organization_id: string
  /** In lower case. */
  email: string
  role: 'admin' | 'developer' | 'viewer' | 'member'
  message: string | null
  /** The account that invites; null for invitations of earlier versions. */
  invited_by: string | null
  /** A pending invitation is valid until it expires. */
  status: Generated<'pending' | 'accepted' | 'declined' | 'revoked'>
  expires_at: Date
  created_at: CreatedColumn
}

/** An invitation mail that an account had sent. */
export interface InvitationMailRow {
  id: GeneratedAlways<bigint>
  user_id: string
  sent_at: CreatedColumn
}

export interface InvitationSchema {
  invitation: InvitationRow
  invitation_mail: InvitationMailRow
}

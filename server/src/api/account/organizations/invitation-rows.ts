import type { Kysely, Selectable } from 'kysely'
import { requireRow } from '../../../platform/db/account-row'
import type { Invitation } from './invitation-schema'
import type { InvitationRow } from '../../../platform/db/invitation-schema'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'

type Row = Selectable<InvitationRow> & { organization_name: string; inviter_name: string | null }

/** Derives the status: a pending invitation expires by time, without a write. */
const statusOf = ({ status, expires_at }: Pick<Row, 'status' | 'expires_at'>) =>
  status === 'pending' && expires_at.getTime() <= Date.now() ? 'expired' : status

export const toInvitation = (row: Row): Invitation => ({
  id: row.id,
  organization_id: row.organization_id,
  organization_name: row.organization_name,
  inviter_name: row.inviter_name,
  email: row.email,
  role: row.role,
  message: row.message,
  status: statusOf(row),
  expires_at: toTimestamp(row.expires_at),
  created_at: toTimestamp(row.created_at),
})

/** Selects invitations with the names of their organizations and inviters. */
export const selectInvitations = (db: Kysely<Schema>) =>
  db
    .selectFrom('invitation')
    .innerJoin('organization', 'organization.id', 'invitation.organization_id')
    .leftJoin('users as inviter', 'inviter.id', 'invitation.invited_by')
    .selectAll('invitation')
    .select(['organization.name as organization_name', 'inviter.display_name as inviter_name'])

/** The required organization or address of an invitation. */
type InvitationScope = { organizationId: string } | { email: string }

/** Rejects with `resource_not_found` for an invitation of another owner. */
export async function find(db: Kysely<Schema>, id: string, scope: InvitationScope): Promise<Row> {
  return requireRow('inv', id, () =>
    selectInvitations(db)
      .where('invitation.id', '=', id)
      .$if('organizationId' in scope, (query) =>
        query.where('organization_id', '=', 'organizationId' in scope ? scope.organizationId : ''),
      )
      .$if('email' in scope, (query) =>
        query.where('invitation.email', '=', 'email' in scope ? scope.email : ''),
      )
      .executeTakeFirst(),
  )
}

/** Throws `wrong_state` unless the invitation is in an allowed state. */
export function checkState(row: Row, allowed: readonly Invitation['status'][]): void {
  const status = statusOf(row)
  if (allowed.includes(status)) return
  throw invalidRequest(null, 'wrong_state', `The invitation is ${status}.`)
}

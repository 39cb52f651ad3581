import type { Transaction } from 'kysely'
import { lockAccount } from '../../../platform/db/account-row'
import { checkState, find, selectInvitations, toInvitation } from './invitation-rows'
import type { Invitation } from './invitation-schema'
import { checkMemberLimit, lock } from './join'
import { recordInvitation } from './audit-fields'
import { hasNoPrimary, type OrganizationPorts } from './store'
import type { Principal } from '../../../auth/principal'
import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'

export type OwnInvitationStore = ReturnType<typeof createOwnInvitationStore>

/**
 * Invitations for the accounts that received them, by their address. All reject with `resource_not_found` for
 * those of other addresses. Source: contract 7.4.
 */
export function createOwnInvitationStore({
  db,
  changed,
}: Pick<OrganizationPorts, 'db' | 'changed'>) {
  return {
    async list({ userId }: Principal) {
      const rows = await selectInvitations(db)
        .where('invitation.email', '=', await addressOf(db, userId))
        .where('invitation.status', '=', 'pending')
        .where('invitation.expires_at', '>', new Date())
        .orderBy('invitation.id', 'desc')
        .limit(maxListed)
        .execute()
      return { invitations: rows.map(toInvitation) }
    },
    async accept({ userId }: Principal, id: string) {
      const invitation = await answer(db, { userId, id, status: 'accepted' })
      changed(userId)
      return invitation
    },
    decline: ({ userId }: Principal, id: string) => answer(db, { userId, id, status: 'declined' }),
  }
}

const maxListed = 100

/** Returns an account's verified address, as invitations have it. */
async function addressOf(db: Kysely<Schema>, userId: string): Promise<string> {
  const { email, email_verified: isVerified } = await db
    .selectFrom('users')
    .select(['email', 'email_verified'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  // An empty address matches no invitation.
  return isVerified ? email.toLowerCase() : ''
}

interface Answer {
  userId: string
  id: string
  status: 'accepted' | 'declined'
}

/** Answers an invitation once: of two concurrent answers the second one fails (A12). */
async function answer(db: Kysely<Schema>, { userId, id, status }: Answer): Promise<Invitation> {
  const scope = { email: await addressOf(db, userId) }
  const { organization_id: organizationId } = await find(db, id, scope)
  return db.transaction().execute(async (trx) => {
    const organization = await lock(trx, organizationId)
    const row = await find(trx, id, scope)
    checkState(row, ['pending'])
    if (status === 'accepted') {
      if (organization?.status !== 'active') {
        throw invalidRequest(null, 'wrong_state', 'The organization is suspended.')
      }
      await admit(trx, { organizationId, userId, role: row.role })
    }
    await trx.updateTable('invitation').set({ status }).where('id', '=', id).execute()
    await recordInvitation(trx, `invitation.${status}`, {
      before: row,
      after: { ...row, status },
    })
    return toInvitation({ ...row, status })
  })
}

interface Admitted {
  organizationId: string
  userId: string
  role: Invitation['role']
}

/** Makes an account an active member, also one with a pending request to join. */
async function admit(trx: Transaction<Schema>, { organizationId, userId, role }: Admitted) {
  // Of two organizations that admit an account at once, only one becomes its primary.
  await lockAccount(trx, userId)
  const membership = await trx
    .selectFrom('membership')
    .select('status')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (membership && membership.status !== 'pending') {
    throw invalidRequest(null, 'duplicate', 'You are already a member of the organization.')
  }
  await checkMemberLimit(trx, organizationId)
  const fields = {
    role,
    status: 'active' as const,
    is_primary: await hasNoPrimary(trx, userId),
    joined_at: new Date(),
  }
  await trx
    .insertInto('membership')
    .values({ organization_id: organizationId, user_id: userId, ...fields })
    .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doUpdateSet(fields))
    .execute()
}

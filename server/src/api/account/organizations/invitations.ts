import { sql, type Kysely, type Transaction } from 'kysely'
import { sendInvitation, countMail } from './invitation-mail'
import { checkState, find, selectInvitations, toInvitation } from './invitation-rows'
import type { Invitation, InvitationFilters, NewInvitation } from './invitation-schema'
import { checkMemberLimit, lock } from './join'
import { below } from './members'
import { recordInvitation } from './audit-fields'
import type { Principal } from '../../../auth/principal'
import { managers, requireRole, findRole, type Role } from '../../../auth/roles'
import { isId, newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest, issues, type Issue } from '../../../errors'
import type { BulkItem } from '../../../http/bulk'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import type { LiveSettings } from '../../../platform/settings/live-settings'

const lifeMs = 7 * 24 * 60 * 60 * 1000

export interface InvitationPorts {
  db: Kysely<Schema>
  settings: Pick<LiveSettings, 'current'>
  /** Returns the dashboard's address, for mails. */
  address: () => string
}

/** The account that invites. */
interface Inviter {
  caller: Principal
  organizationId: string
}

export type InvitationStore = ReturnType<typeof createInvitationStore>

/** Invitations of organizations, for their managers. Source: contract 7.4. */
export function createInvitationStore(ports: InvitationPorts) {
  const { db } = ports
  return {
    async invite(inviter: Inviter, fields: NewInvitation) {
      const role = await managerRole(db, inviter)
      return invite(ports, { ...inviter, role }, fields)
    },
    async inviteAll(inviter: Inviter, items: readonly BulkItem<NewInvitation>[]) {
      const role = await managerRole(db, inviter)
      return inviteAll(ports, { ...inviter, role }, items)
    },
    async list(inviter: Inviter, { status }: InvitationFilters, page: Page) {
      await managerRole(db, inviter)
      const query = selectInvitations(db)
        .where('organization_id', '=', inviter.organizationId)
        .$if(status !== undefined, (all) => all.where(hasStatus(status ?? 'pending')))
      const { items, pagination } = await queryPage(db, query, { page, column: 'invitation.id' })
      return { invitations: items.map(toInvitation), pagination }
    },
    resend: (inviter: Inviter, id: string) =>
      changeOne(ports, { inviter, id }, async (trx, row) => {
        checkState(row, ['pending', 'expired'])
        await checkUninvited(trx, row, row.id)
        await countMail(trx, senderOf(ports, inviter))
        const [renewedInvitation] = await trx
          .updateTable('invitation')
          .set({ expires_at: new Date(Date.now() + lifeMs) })
          .where('id', '=', id)
          .returningAll()
          .execute()
        const invitation = toInvitation({ ...row, ...renewedInvitation })
        await recordInvitation(trx, 'invitation.resent', {
          before: toInvitation(row),
          after: invitation,
        })
        await sendInvitation(trx, invitation, ports.address())
        return invitation
      }),
    revoke: (inviter: Inviter, id: string) =>
      changeOne(ports, { inviter, id }, async (trx, row) => {
        checkState(row, ['pending'])
        await trx
          .updateTable('invitation')
          .set({ status: 'revoked' })
          .where('id', '=', id)
          .execute()
        await recordInvitation(trx, 'invitation.revoked', {
          before: row,
          after: { ...row, status: 'revoked' },
        })
        return { success: true as const, message: 'The invitation was revoked.' }
      }),
  }
}

const senderOf = ({ settings }: InvitationPorts, { caller }: Inviter) => ({
  userId: caller.userId,
  limit: settings.current.rates.invitationMailsPerDay,
})

/** Rejects with `resource_not_found` for non-members, `insufficient_permissions` for lower roles. */
async function managerRole(db: Kysely<Schema>, inviter: Inviter): Promise<Role> {
  const role = await roleOf(db, inviter)
  requireRole(role, managers)
  return role
}

async function roleOf(db: Kysely<Schema>, { caller, organizationId }: Inviter): Promise<Role> {
  const role = isId('org', organizationId)
    ? await findRole(db, caller.userId, organizationId)
    : undefined
  if (role === undefined) throw new ApiError('resource_not_found')
  return role
}

const hasStatus = (status: Invitation['status']) =>
  status === 'pending' || status === 'expired'
    ? sql<boolean>`invitation.status = 'pending'
        and (invitation.expires_at > now()) = ${status === 'pending'}`
    : sql<boolean>`invitation.status = ${status}`

/** Changes an invitation of the organization under a lock. */
async function changeOne<Result>(
  { db }: InvitationPorts,
  { inviter, id }: { inviter: Inviter; id: string },
  work: (trx: Transaction<Schema>, row: Awaited<ReturnType<typeof find>>) => Promise<Result>,
): Promise<Result> {
  const role = await roleOf(db, inviter)
  const scope = { organizationId: inviter.organizationId }
  await find(db, id, scope)
  requireRole(role, managers)
  return db.transaction().execute(async (trx) => {
    await lock(trx, inviter.organizationId)
    const row = await find(trx, id, scope)
    checkRole(role, row.role)
    return work(trx, row)
  })
}

/** Throws for a role that the inviter may not assign. */
function checkRole(role: Role, assigned: Invitation['role']): void {
  if (!below[role].includes(assigned)) requireRole(role, ['owner'])
}

interface Address {
  email: string
  organization_id: string
}

/** Rejects with `duplicate` for members, accounts with a pending request, and invited addresses. */
async function checkUninvited(trx: Transaction<Schema>, address: Address, own: string | null) {
  const { email, organization_id: organizationId } = address
  const member = await trx
    .selectFrom('membership')
    .innerJoin('users', 'users.id', 'membership.user_id')
    .select('membership.status')
    .where('membership.organization_id', '=', organizationId)
    .where(sql`lower(users.email)`, '=', email)
    .executeTakeFirst()
  const pending = await trx
    .selectFrom('invitation')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .where(hasStatus('pending'))
    .where('id', '<>', own ?? '')
    .executeTakeFirst()
  if (!member && !pending) return
  const message = member
    ? 'is already a member of the organization or has requested to join'
    : 'has already been invited'
  const param = own === null ? 'email' : null
  throw invalidRequest(param, 'duplicate', `${own === null ? 'email: ' : ''}${email} ${message}.`)
}

function invite(
  ports: InvitationPorts,
  inviter: Inviter & { role: Role },
  { email, role, message }: NewInvitation,
): Promise<Invitation> {
  checkRole(inviter.role, role)
  const { organizationId } = inviter
  return ports.db.transaction().execute(async (trx) => {
    const organization = await lock(trx, organizationId)
    if (!organization) throw new ApiError('resource_not_found')
    await checkUninvited(trx, { email, organization_id: organizationId }, null)
    await checkMemberLimit(trx, organizationId)
    await countMail(trx, senderOf(ports, inviter))
    const row = await trx
      .insertInto('invitation')
      .values({
        id: newId('inv'),
        organization_id: organizationId,
        email,
        role,
        message: message || null,
        invited_by: inviter.caller.userId,
        expires_at: new Date(Date.now() + lifeMs),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const invitation = toInvitation(await find(trx, row.id, { organizationId }))
    await recordInvitation(trx, 'invitation.created', { after: invitation })
    await sendInvitation(trx, invitation, ports.address())
    return invitation
  })
}

/** Converts the error of one invitation to an issue of a bulk request. */
function issueOf({ status, details }: ApiError): Issue {
  if (status === 429) return 'limit_reached'
  return issues.find((issue) => issue === details['issue']) ?? 'not_allowed'
}

/** Invites each address separately. Rejects when all of them fail. */
async function inviteAll(
  ports: InvitationPorts,
  inviter: Inviter & { role: Role },
  items: readonly BulkItem<NewInvitation>[],
) {
  const invitations: Invitation[] = []
  const errors: { index: number; param: string | null; message: string }[] = []
  let issue: Issue | undefined
  for (const [index, item] of items.entries()) {
    try {
      if ('error' in item) throw item.error
      invitations.push(await invite(ports, inviter, item.value))
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.status >= 500) throw thrown
      const { param, message } = thrown
      issue ??= issueOf(thrown)
      errors.push({ index, param: thrown.status === 403 ? 'role' : param, message })
    }
  }
  if (invitations.length === 0) {
    const [first] = errors
    const message = `no invitation could be sent. The first error: ${first?.message}`
    throw invalidRequest('invitations', issue ?? 'not_allowed', `invitations: ${message}`)
  }
  return { created: invitations.length, failed: errors.length, invitations, errors }
}

import { sql, type Kysely, type Transaction } from 'kysely'
import { recordMember } from './audit-fields'
import { hasNoPrimary } from './store'
import { lockAccount } from '../../../platform/db/account-row'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { isUniqueViolation } from '../../../platform/db/violation'
import { ApiError, invalidRequest } from '../../../errors'

/** Locks an organization, so that it never has two owners or too many members. */
export const lock = (trx: Transaction<Schema>, id: string) =>
  trx
    .selectFrom('organization')
    .innerJoin('plan', 'plan.id', 'organization.plan_id')
    .selectAll('organization')
    .select(
      sql<number>`coalesce(organization.member_limit, plan.max_org_members)`.as('max_members'),
    )
    .where('organization.id', '=', id)
    .forNoKeyUpdate('organization')
    .executeTakeFirst()

/** Throws `limit_reached` for a full organization. */
export async function checkMemberLimit(trx: Transaction<Schema>, id: string): Promise<void> {
  const organization = await lock(trx, id)
  const { total } = await trx
    .selectFrom('membership')
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .where('organization_id', '=', id)
    .where('status', '<>', 'pending')
    .executeTakeFirstOrThrow()
  const maxMembers = organization?.max_members ?? 0
  if (total < maxMembers) return
  throw invalidRequest(null, 'limit_reached', `The organization has at most ${maxMembers} members.`)
}

interface Joining {
  userId: string
  id: string
  message: string | null
}

/** Requests to join a public organization. Rejects with `resource_not_found`, `duplicate`. */
export async function join(db: Kysely<Schema>, { userId, id, message }: Joining): Promise<void> {
  if (!isId('org', id)) throw new ApiError('resource_not_found')
  await db.transaction().execute(async (trx) => {
    const organization = await lock(trx, id)
    const isOpen = organization?.is_public && organization.status === 'active'
    if (!isOpen || !organization.allow_join_requests) throw new ApiError('resource_not_found')
    // Of two organizations that admit an account at once, only one becomes its primary.
    const { email, email_verified: isVerified } = await lockAccount(trx, userId)
    const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
    const isActive =
      organization.auto_approve_requests ||
      (isVerified && organization.auto_approve_domains.includes(domain))
    if (isActive) await checkMemberLimit(trx, id)
    const status = isActive ? 'active' : 'pending'
    await trx
      .insertInto('membership')
      .values({
        organization_id: id,
        user_id: userId,
        role: 'member',
        status,
        is_primary: isActive && (await hasNoPrimary(trx, userId)),
        message,
        joined_at: isActive ? new Date() : null,
      })
      .execute()
      .catch((thrown: unknown) => {
        if (!isUniqueViolation(thrown)) throw thrown
        throw invalidRequest(
          null,
          'duplicate',
          'You are already a member, or your request to join is pending.',
        )
      })
    await recordMember(trx, isActive ? 'member.joined' : 'member.asked', {
      row: { organization_id: id, user_id: userId, email },
      after: { role: 'member', status },
    })
  })
}

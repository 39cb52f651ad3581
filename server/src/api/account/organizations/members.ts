import type { Kysely, Selectable, Transaction } from 'kysely'
import { requireRow, lockAccount } from '../../../platform/db/account-row'
import type { ChangedMember, MemberFilters } from './schema'
import { checkMemberLimit, join, lock } from './join'
import { recordMember, memberAuditFields } from './audit-fields'
import { checkOwnsNone, hasNoPrimary, type OrganizationPorts } from './store'
import type { Principal } from '../../../auth/principal'
import { managers, requireRole, findRole, type Role } from '../../../auth/roles'
import { isId } from '../../../platform/db/id'
import type { MembershipRow, Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { present, toTimestamp } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'
import type { Action } from '../../../audit-log/organization-trail'
import { memberLimit, memberSpent } from '../../../ledger/member-budgets'
import { toUsd, toUsdOrNull } from '../../../wire/usd'

/** The roles that each role may assign, and whose members it may change. Source: contract 2.4. */
export const below: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['owner', 'admin', 'developer', 'viewer', 'member'],
  admin: ['developer', 'viewer', 'member'],
  developer: [],
  viewer: [],
  member: [],
}

type Row = Selectable<MembershipRow> & {
  id: string
  email: string
  display_name: string
  spent: bigint
  limit: bigint | null
}

const toMember = (row: Row, isVisible: boolean) => ({
  user_id: row.user_id,
  email: isVisible ? row.email : null,
  display_name: row.display_name,
  role: row.role,
  status: row.status,
  department: row.department,
  spending_limit: isVisible ? toUsdOrNull(row.spending_limit) : null,
  effective_spending_limit: isVisible ? toUsdOrNull(row.limit) : null,
  spent_this_month: isVisible ? toUsd(row.spent) : null,
  remaining_this_month: isVisible ? toUsdOrNull(remainingOf(row)) : null,
  joined_at: row.joined_at && toTimestamp(row.joined_at),
})

/** The rest of the limit; null without one. */
function remainingOf({ limit, spent }: Pick<Row, 'limit' | 'spent'>): bigint | null {
  if (limit === null) return null
  return spent < limit ? limit - spent : 0n
}

const membersOf = (db: Kysely<Schema>, organizationId: string) =>
  db
    .selectFrom('membership')
    .innerJoin('users', 'users.id', 'membership.user_id')
    .where('membership.organization_id', '=', organizationId)

const selectMembers = (db: Kysely<Schema>, organizationId: string) =>
  membersOf(db, organizationId)
    .selectAll('membership')
    .select(['users.id', 'users.email', 'users.display_name'])
    .select([memberSpent.as('spent'), memberLimit.as('limit')])

async function findMember(db: Kysely<Schema>, organizationId: string, userId: string) {
  return requireRow('user', userId, () =>
    selectMembers(db, organizationId).where('membership.user_id', '=', userId).executeTakeFirst(),
  )
}

/** Returns the role of the caller. Rejects with `resource_not_found` for a caller that is no active member. */
async function ownRole(db: Kysely<Schema>, { userId }: Principal, id: string): Promise<Role> {
  const role = isId('org', id) ? await findRole(db, userId, id) : undefined
  if (role === undefined) throw new ApiError('resource_not_found')
  return role
}

/** Identifies a member by organization and account. */
interface Ids {
  id: string
  userId: string
}

export type MemberStore = ReturnType<typeof createMemberStore>

/** Members of organizations. Source: contract 7.4. */
export function createMemberStore({ db, changed }: OrganizationPorts) {
  return {
    async list(caller: Principal, id: string, listing: Listing) {
      const role = await ownRole(db, caller, id)
      return listMembers(db, { caller, id, role }, listing)
    },
    async join({ userId }: Principal, id: string, message: string | undefined) {
      await join(db, { userId, id, message: message ?? null })
      changed(userId)
      return toMember(await findMember(db, id, userId), true)
    },
    async change(caller: Principal, { id, userId }: Ids, fields: ChangedMember) {
      await ownRole(db, caller, id)
      await db.transaction().execute(async (trx) => {
        // Read again under the lock.
        await lock(trx, id)
        // The end of a membership may end the account's funding by the pool; a new one may become its primary.
        await lockAccount(trx, userId)
        const role = await ownRole(trx, caller, id)
        requireRole(role, managers)
        const row = await findMember(trx, id, userId)
        checkChange(role, row, { ...fields, isSelf: userId === caller.userId })
        await change(trx, row, { fields, callerId: caller.userId })
      })
      for (const member of [userId, caller.userId]) changed(member)
      return toMember(await findMember(db, id, userId), true)
    },
    async remove(caller: Principal, ids: Ids) {
      await roleOrOwn(db, caller, ids)
      await db.transaction().execute(async (trx) => {
        await lock(trx, ids.id)
        await lockAccount(trx, ids.userId)
        await remove(trx, caller, ids)
      })
      changed(ids.userId)
      return { success: true as const, message: 'The member was removed.' }
    },
  }
}

async function remove(trx: Transaction<Schema>, caller: Principal, { id, userId }: Ids) {
  const role = await roleOrOwn(trx, caller, { id, userId })
  const row = await findMember(trx, id, userId)
  if (row.role === 'owner') {
    throw invalidRequest('user_id', 'not_allowed', 'user_id: transfer the ownership first.')
  }
  if (userId !== caller.userId) {
    requireRole(role, role === 'owner' || row.role !== 'admin' ? managers : ['owner'])
  }
  await trx
    .deleteFrom('membership')
    .where('organization_id', '=', id)
    .where('user_id', '=', userId)
    .execute()
  await recordMember(trx, endOf(row, caller), { row, before: memberAuditFields(row) })
}

/** Returns the audited action of a membership's end. */
function endOf({ user_id: userId, status }: Row, caller: Principal): Action {
  if (userId === caller.userId) return 'member.left'
  return status === 'pending' ? 'member.refused' : 'member.removed'
}

/** Leaving does not require an active membership, as a pending request to join has none. */
const roleOrOwn = async (
  db: Kysely<Schema>,
  caller: Principal,
  { id, userId }: Ids,
): Promise<Role> =>
  userId === caller.userId && isId('org', id)
    ? (await findMember(db, id, userId)).role
    : ownRole(db, caller, id)

/** Throws for a change that the caller's role does not permit. */
function checkChange(role: Role, row: Row, fields: ChangedMember & { isSelf: boolean }): void {
  if (fields.isSelf) {
    for (const name of ['role', 'status'] as const) {
      if (fields[name] === undefined || fields[name] === row[name]) continue
      throw invalidRequest(name, 'not_allowed', `${name}: you cannot change your own.`)
    }
    return
  }
  const mayTouch = below[role].includes(row.role)
  const mayGive = fields.role === undefined || below[role].includes(fields.role)
  if (!mayTouch || !mayGive) requireRole(role, ['owner'])
  const isActive = (fields.status ?? row.status) === 'active'
  if (fields.role === 'owner' && !isActive) {
    throw invalidRequest('role', 'wrong_state', 'role: only an active member can be the owner.')
  }
}

interface Change {
  fields: ChangedMember
  callerId: string
}

async function change(trx: Transaction<Schema>, row: Row, { fields, callerId }: Change) {
  const { organization_id: id, user_id: userId } = row
  const isAdmitted = row.status === 'pending' && fields.status !== undefined
  if (isAdmitted) await checkMemberLimit(trx, id)
  if (fields.role === 'owner' && row.role !== 'owner') {
    await checkOwnsNone(trx, userId)
    await setRole(trx, { id, userId: callerId, role: 'admin' })
  }
  const isFirst = fields.status === 'active' && (await hasNoPrimary(trx, userId))
  await trx
    .updateTable('membership')
    .set({
      user_id: userId,
      ...present(fields),
      ...(isFirst && { is_primary: true }),
      ...(isAdmitted && { joined_at: new Date() }),
    })
    .where('organization_id', '=', id)
    .where('user_id', '=', userId)
    .execute()
  const changed = await findMember(trx, id, userId)
  const isHandedOver = changed.role === 'owner' && row.role !== 'owner'
  await recordMember(trx, changeOf(row, changed), {
    row,
    before: memberAuditFields(row),
    after: { ...memberAuditFields(changed), ...(isHandedOver && { former_owner: callerId }) },
  })
}

/** Returns the audited action of a member's change: that of its most important part. */
function changeOf(before: Row, { role, status }: Row): Action {
  if (role === 'owner' && before.role !== 'owner') return 'member.owner_changed'
  if (status !== before.status) {
    if (status === 'suspended') return 'member.suspended'
    return before.status === 'pending' ? 'member.admitted' : 'member.reinstated'
  }
  return role === before.role ? 'member.changed' : 'member.role_changed'
}

const setRole = (
  trx: Transaction<Schema>,
  { id, userId, role }: { id: string; userId: string; role: Role },
) =>
  trx
    .updateTable('membership')
    .set({ role })
    .where('organization_id', '=', id)
    .where('user_id', '=', userId)
    .execute()

interface Listing {
  filters: MemberFilters
  search: string | undefined
  page: Page
}

interface MemberViewer {
  caller: Principal
  id: string
  role: Role
}

async function listMembers(
  db: Kysely<Schema>,
  viewer: MemberViewer,
  { filters, search, page }: Listing,
) {
  const { caller, id, role } = viewer
  const isManager = managers.includes(role)
  let filtered = selectMembers(db, id)
  if (filters.role) filtered = filtered.where('membership.role', '=', filters.role)
  if (filters.status) filtered = filtered.where('membership.status', '=', filters.status)
  if (search !== undefined) {
    const like = containing(search)
    filtered = filtered.where((is) =>
      is.or([
        is('users.display_name', 'ilike', like),
        // Callers that may not see addresses cannot search by them, either.
        ...(isManager ? [is('users.email', 'ilike', like)] : []),
      ]),
    )
  }
  const column = 'membership.user_id'
  const { items, pagination } = await queryPage(db, filtered, { page, column })
  const isVisible = (row: Row) => isManager || row.user_id === caller.userId
  return { members: items.map((row) => toMember(row, isVisible(row))), pagination }
}

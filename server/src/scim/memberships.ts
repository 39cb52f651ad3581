import { sql, type Transaction } from 'kysely'
import type { ProvisioningDirectory } from './directory'
import { ScimError } from './scim-error'
import { recordChange } from '../audit-log/organization-trail'
import type { Schema } from '../platform/db/schema'

interface MembershipChange {
  organizationId: string
  userId: string
  email: string
  /** The role by the groups; null where no group makes the user a member. */
  role: string | null
  department: string | null
  /** The role of the membership that the directory has made before; null for none. */
  formerRole: string | null
  formerDepartment: string | null
}

/**
 * Makes users members of the organizations of their groups, with the highest of the roles, and ends the memberships that
 * the directory has made and no group has any more. Memberships of other origin, of owners and suspended ones stay as they
 * are. Returns the users whose memberships have changed. Throws where an organization would have too many members.
 */
export async function syncMemberships(
  trx: Transaction<Schema>,
  directory: Pick<ProvisioningDirectory, 'id'>,
  userIds: readonly string[],
): Promise<string[]> {
  if (userIds.length === 0) return []
  await lockConcerned(trx, directory, userIds)
  const changes = await readChanges(trx, directory, userIds)
  for (const change of changes) await applyChange(trx, directory, change)
  const newMemberships = changes.filter(({ formerRole }) => formerRole === null)
  await checkMemberLimits(trx, [...new Set(newMemberships.map((change) => change.organizationId))])
  return [...new Set(changes.map(({ userId }) => userId))]
}

/** Locks organizations, then accounts, each in the order of their ids, as every change of members does. */
async function lockConcerned(
  trx: Transaction<Schema>,
  { id }: Pick<ProvisioningDirectory, 'id'>,
  userIds: readonly string[],
): Promise<void> {
  await sql`
    select id from organization where id in (
      select organization_id from scim_group_mapping where directory_id = ${id}
      union select organization_id from membership where scim_directory_id = ${id}
    ) order by id for no key update`.execute(trx)
  await sql`
    select id from users where id = any(${[...userIds]}::text[])
    order by id for no key update`.execute(trx)
}

/** Returns the memberships that differ from what the groups say. */
async function readChanges(
  trx: Transaction<Schema>,
  { id }: Pick<ProvisioningDirectory, 'id'>,
  userIds: readonly string[],
): Promise<MembershipChange[]> {
  const { rows } = await sql<MembershipChange>`
    with concerned as (
      select user_id, attributes ->> 'department' as department from scim_user
      where directory_id = ${id} and user_id = any(${[...userIds]}::text[])
    ), wanted as (
      select concerned.user_id, mapping.organization_id, concerned.department,
        (array_agg(mapping.role order by
          array_position(array['admin', 'developer', 'member', 'viewer'], mapping.role)))[1] as role
      from concerned
      join scim_group_member as member using (user_id)
      join scim_group as groups on groups.id = member.group_id
      join scim_group_mapping as mapping on mapping.directory_id = groups.directory_id
        and lower(mapping.group_name) = lower(groups.display_name)
      group by 1, 2, 3
    ), made as (
      select user_id, organization_id, role, department from membership
      where scim_directory_id = ${id} and role <> 'owner'
        and user_id = any(${[...userIds]}::text[])
    )
    select coalesce(wanted.organization_id, made.organization_id) as "organizationId",
      users.id as "userId", users.email, wanted.role, wanted.department,
      made.role as "formerRole", made.department as "formerDepartment"
    from wanted full join made using (user_id, organization_id)
    join users on users.id = coalesce(wanted.user_id, made.user_id)
    left join membership as other on other.user_id = users.id
      and other.organization_id = wanted.organization_id
    where wanted.role is distinct from made.role
        and (made.user_id is not null or other.user_id is null or other.status = 'pending')
      or made.user_id is not null and wanted.department is distinct from made.department
    order by 1, 2`.execute(trx)
  return rows
}

async function applyChange(
  trx: Transaction<Schema>,
  { id }: Pick<ProvisioningDirectory, 'id'>,
  change: MembershipChange,
): Promise<void> {
  const { organizationId, userId, role, department } = change
  if (role === null) {
    await sql`
      delete from membership
      where organization_id = ${organizationId} and user_id = ${userId}`.execute(trx)
  } else {
    await sql`
      insert into membership as current
        (organization_id, user_id, role, status, is_primary, department, joined_at, scim_directory_id)
      select ${organizationId}, ${userId}, ${role}, 'active',
        not exists (select from membership where user_id = ${userId} and is_primary),
        ${department}, now(), ${id}
      on conflict (organization_id, user_id) do update set
        role = excluded.role, department = excluded.department,
        scim_directory_id = excluded.scim_directory_id,
        status = case current.status when 'pending' then 'active' else current.status end,
        is_primary = current.is_primary or current.status = 'pending' and excluded.is_primary,
        joined_at = coalesce(current.joined_at, excluded.joined_at)`.execute(trx)
  }
  await recordMembership(trx, change)
}

async function recordMembership(trx: Transaction<Schema>, change: MembershipChange): Promise<void> {
  const { organizationId, userId, email, role, department, formerRole } = change
  const isNew = formerRole === null
  const isSame = formerRole === role
  await recordChange(trx, {
    organizationId,
    action: toAction({ isNew, isEnded: role === null, isSame }),
    objectId: userId,
    objectName: email,
    ...(!isNew && { before: { role: formerRole, department: change.formerDepartment } }),
    ...(role !== null && { after: { role, department } }),
  })
}

function toAction({ isNew, isEnded, isSame }: Record<'isNew' | 'isEnded' | 'isSame', boolean>) {
  if (isEnded) return 'member.removed'
  if (isNew) return 'member.joined'
  return isSame ? 'member.changed' : 'member.role_changed'
}

async function checkMemberLimits(
  trx: Transaction<Schema>,
  organizationIds: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ name: string; max: number }>`
    select organization.name, coalesce(member_limit, plan.max_org_members) as max
    from organization join plan on plan.id = organization.plan_id
    where organization.id = any(${[...organizationIds]}::text[])
      and coalesce(member_limit, plan.max_org_members) < (
        select count(*) from membership
        where organization_id = organization.id and status <> 'pending'
      )`.execute(trx)
  const [full] = rows
  if (!full) return
  throw new ScimError(`The organization ${full.name} has at most ${full.max} members.`, {
    status: 400,
  })
}

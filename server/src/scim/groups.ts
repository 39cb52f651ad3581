import { sql, type Kysely, type Transaction } from 'kysely'
import { recordScimChange } from './audit'
import { changeDirectory, type ProvisioningDirectory } from './directory'
import type { GroupChange, MemberChange } from './group-fields'
import { findGroup, type FoundGroup } from './group-rows'
import { syncMemberships } from './memberships'
import type { Preconditions } from './preconditions'
import { badRequest, notFound, uniquenessError } from './scim-error'
import type { UserPorts } from './users'
import { noteCreated } from '../platform/db/background-work'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { isUniqueViolation } from '../platform/db/violation'

const maxGroups = 2000
const maxMembersInGroup = 10_000

/** Groups of directories. All reject with 404 for groups of other directories. Source: contract 2.6. */
export function createGroupChanges({ db, changed }: UserPorts) {
  const run = async <Result>(
    directory: ProvisioningDirectory,
    change: (trx: Transaction<Schema>) => Promise<{ result: Result; userIds: string[] }>,
  ): Promise<Result> => {
    const { result, userIds } = await changeDirectory(db, directory, change)
    for (const userId of userIds) changed(userId)
    return result
  }
  return {
    create: (directory: ProvisioningDirectory, fields: GroupChange & { displayName: string }) =>
      run(directory, async (trx) => {
        const id = await insert(trx, directory, fields)
        const concerned = await changeMembers(trx, directory, { id, changes: fields.members })
        const userIds = await syncMemberships(trx, directory, concerned)
        return { result: id, userIds }
      }),
    change: (directory: ProvisioningDirectory, id: string, { change, check }: GroupUpdate) =>
      run(directory, async (trx) => {
        const group = await requireGroup(trx, directory, { id, check })
        return { result: undefined, userIds: await update(trx, directory, { group, change }) }
      }),
    remove: (directory: ProvisioningDirectory, id: string, check: Preconditions) =>
      run(directory, async (trx) => {
        const group = await requireGroup(trx, directory, { id, check })
        const concerned = await memberIdsOf(trx, id)
        await trx.deleteFrom('scim_group').where('id', '=', id).execute()
        const userIds = await syncMemberships(trx, directory, concerned)
        await recordGroup(trx, directory, { action: 'scim_group.deleted', group })
        return { result: undefined, userIds }
      }),
  }
}

interface GroupUpdate {
  change: GroupChange
  check: Preconditions
}

const rejectTaken = (thrown: unknown) => {
  throw isUniqueViolation(thrown)
    ? uniquenessError('displayName: another group of the directory has it.')
    : thrown
}

async function requireGroup(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  { id, check }: { id: string; check: Preconditions },
): Promise<FoundGroup> {
  const group = await findGroup(trx, directory, id)
  if (!group) throw notFound()
  check({ version: `W/"${group.version}"` })
  return group
}

async function insert(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  { displayName, externalId }: GroupChange & { displayName: string },
): Promise<string> {
  const { total } = await trx
    .selectFrom('scim_group')
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .where('directory_id', '=', directory.id)
    .executeTakeFirstOrThrow()
  if (total >= maxGroups) {
    throw badRequest('tooMany', `A directory has at most ${maxGroups} groups.`)
  }
  const id = newId('grp')
  noteCreated(id)
  await trx
    .insertInto('scim_group')
    .values({
      id,
      directory_id: directory.id,
      display_name: displayName,
      external_id: externalId ?? null,
    })
    .execute()
    .catch(rejectTaken)
  const group = { id, display_name: displayName }
  await recordGroup(trx, directory, { action: 'scim_group.created', group })
  return id
}

async function update(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  { group, change }: { group: FoundGroup; change: GroupChange },
): Promise<string[]> {
  const { id } = group
  const { displayName = group.display_name, externalId = group.external_id } = change
  const isRenamed = displayName !== group.display_name
  const hasChanged = isRenamed || externalId !== group.external_id
  if (hasChanged) {
    await trx
      .updateTable('scim_group')
      .set({ display_name: displayName, external_id: externalId })
      .where('id', '=', id)
      .execute()
      .catch(rejectTaken)
  }
  const concerned = await changeMembers(trx, directory, { id, changes: change.members })
  if (!hasChanged && concerned.length === 0) return []
  await sql`
    update scim_group set version = version + 1, updated_at = now() where id = ${id}`.execute(trx)
  const all = isRenamed ? [...concerned, ...(await memberIdsOf(trx, id))] : concerned
  const changedIds = await syncMemberships(trx, directory, [...new Set(all)])
  await recordGroup(trx, directory, {
    action: 'scim_group.changed',
    group,
    after: {
      ...(isRenamed && { display_name: displayName }),
      changed_members: concerned.length,
    },
  })
  return changedIds
}

async function memberIdsOf(trx: Transaction<Schema>, groupId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('scim_group_member')
    .select('user_id')
    .where('group_id', '=', groupId)
    .execute()
  return rows.map((row) => row.user_id)
}

interface GroupMembers {
  id: string
  changes: readonly MemberChange[]
}

/** Changes the members of a group. Returns the users that were added or removed. */
async function changeMembers(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  { id, changes }: GroupMembers,
): Promise<string[]> {
  const concerned = new Set<string>()
  for (const { kind, userIds } of changes) {
    if (kind !== 'remove') await checkUsers(trx, directory, userIds)
    const removed = kind === 'add' ? [] : await removeMembers(trx, id, { kind, userIds })
    const added = kind === 'remove' ? [] : await addMembers(trx, id, userIds)
    for (const userId of [...removed, ...added]) concerned.add(userId)
  }
  if (concerned.size > 0 && (await memberIdsOf(trx, id)).length > maxMembersInGroup) {
    throw badRequest('tooMany', `members: a group has at most ${maxMembersInGroup}.`)
  }
  return [...concerned]
}

/** Throws where one of the users is not of the directory. */
async function checkUsers(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  userIds: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${[...userIds]}::text[]) as id
    where not exists (
      select from scim_user where user_id = id and directory_id = ${directory.id}
    ) limit 1`.execute(trx)
  const [unknown] = rows
  if (!unknown) return
  const message = `members: the directory has no user ${unknown.id.slice(0, 80)}.`
  throw badRequest('invalidValue', message)
}

async function addMembers(
  trx: Transaction<Schema>,
  groupId: string,
  userIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into scim_group_member (group_id, user_id)
    select ${groupId}, id from unnest(${[...userIds]}::text[]) as id
    on conflict do nothing returning user_id as id`.execute(trx)
  return rows.map((row) => row.id)
}

/** Removes these members, or for `set` all others. */
async function removeMembers(
  trx: Transaction<Schema>,
  groupId: string,
  { kind, userIds }: MemberChange,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from scim_group_member
    where group_id = ${groupId}
      and (user_id = any(${[...userIds]}::text[])) = ${kind === 'remove'}
    returning user_id as id`.execute(trx)
  return rows.map((row) => row.id)
}

const recordGroup = (
  db: Kysely<Schema>,
  directory: ProvisioningDirectory,
  { action, group, after }: RecordedGroup,
) =>
  recordScimChange(db, directory, {
    action,
    objectId: group.id,
    objectName: group.display_name,
    after: after ?? { display_name: group.display_name },
  })

interface RecordedGroup {
  action: 'scim_group.created' | 'scim_group.changed' | 'scim_group.deleted'
  group: Pick<FoundGroup, 'id' | 'display_name'>
  after?: Record<string, unknown>
}

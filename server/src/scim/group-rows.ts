import { sql, type Kysely } from 'kysely'
import type { ProvisioningDirectory } from './directory'
import type { Condition } from './filter'
import { toGroupResource, type GroupRecord, type Reference, type Resource } from './resources'
import { badRequest } from './scim-error'
import { toText, type ListRequest } from './user-rows'
import { isId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

export type FoundGroup = GroupRecord

const selectGroups = (db: Kysely<Schema>, { id }: ProvisioningDirectory) =>
  db.selectFrom('scim_group').where('directory_id', '=', id)

const columns = [
  'id',
  'display_name',
  'external_id',
  'version',
  'created_at',
  'updated_at',
] as const

/** Finds a group of a directory; undefined for all others. */
export const findGroup = async (
  db: Kysely<Schema>,
  directory: ProvisioningDirectory,
  id: string,
): Promise<FoundGroup | undefined> =>
  isId('grp', id)
    ? selectGroups(db, directory).select(columns).where('id', '=', id).executeTakeFirst()
    : undefined

/** How groups are read. */
interface GroupView {
  address: string
  hasMembers: boolean
}

/** Reads a group as its client sees it; undefined for one of another directory. */
export async function readGroup(
  db: Kysely<Schema>,
  directory: ProvisioningDirectory,
  { id, ...view }: GroupView & { id: string },
): Promise<Resource | undefined> {
  const row = await findGroup(db, directory, id)
  return row && (await render(db, [row], view))[0]
}

/** Members make a page large. */
const maxWithMembers = 20

/** Reads a page of groups, the oldest first; at most 20 with their members. Throws `invalidFilter`. */
export async function listGroups(
  db: Kysely<Schema>,
  directory: ProvisioningDirectory,
  { conditions, startIndex, count, ...view }: ListRequest & GroupView,
) {
  const filtered = conditions.reduce(
    (query, condition) => query.where(toPredicate(condition)),
    selectGroups(db, directory),
  )
  const { total } = await filtered
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await filtered
    .select(columns)
    .orderBy('id')
    .offset(startIndex - 1)
    .limit(view.hasMembers ? Math.min(count, maxWithMembers) : count)
    .execute()
  return { total: Number(total), resources: await render(db, rows, view) }
}

function toPredicate({ attribute, value }: Condition) {
  switch (attribute) {
    case 'id':
      return sql<boolean>`scim_group.id = ${toText(value)}`
    case 'displayname':
      return sql<boolean>`lower(scim_group.display_name) = lower(${toText(value)})`
    case 'externalid':
      return sql<boolean>`scim_group.external_id = ${toText(value)}`
    case 'members':
    case 'members.value':
      return sql<boolean>`exists (
        select from scim_group_member
        where group_id = scim_group.id and user_id = ${toText(value)}
      )`
    default:
      throw badRequest('invalidFilter', `filter: "${attribute.slice(0, 80)}" cannot be compared.`)
  }
}

async function render(
  db: Kysely<Schema>,
  rows: readonly GroupRecord[],
  { address, hasMembers }: GroupView,
): Promise<Resource[]> {
  const members = hasMembers ? await membersOf(db, rows) : undefined
  return rows.map((row) => toGroupResource(row, members && (members.get(row.id) ?? []), address))
}

async function membersOf(
  db: Kysely<Schema>,
  groups: readonly GroupRecord[],
): Promise<Map<string, Reference[]>> {
  if (groups.length === 0) return new Map()
  const rows = await db
    .selectFrom('scim_group_member')
    .innerJoin('scim_user', 'scim_user.user_id', 'scim_group_member.user_id')
    .select(['group_id', 'scim_user.user_id as value', 'scim_user.user_name as display'])
    .where(
      'group_id',
      'in',
      groups.map(({ id }) => id),
    )
    .orderBy('scim_user.user_id')
    .execute()
  const members = new Map<string, Reference[]>()
  for (const { group_id: groupId, ...member } of rows) {
    const list = members.get(groupId)
    if (list) list.push(member)
    else members.set(groupId, [member])
  }
  return members
}

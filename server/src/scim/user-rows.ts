import { sql, type Kysely } from 'kysely'
import type { ProvisioningDirectory } from './directory'
import type { Condition } from './filter'
import {
  toUserResource,
  type Reference,
  type Resource,
  type StoredAttributes,
  type UserRecord,
} from './resources'
import { badRequest } from './scim-error'
import { isId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

/** A page that a client wants: `startIndex` begins at 1. */
export interface ListRequest {
  conditions: readonly Condition[]
  startIndex: number
  count: number
}

/** A user with the version that it has. */
export interface FoundUser extends UserRecord {
  /** Whether the account has a role of operators. */
  is_operator: boolean
  version: string
}

const selectUsers = (db: Kysely<Schema>, { id }: ProvisioningDirectory) =>
  db
    .selectFrom('scim_user')
    .innerJoin('users', 'users.id', 'scim_user.user_id')
    .where('scim_user.directory_id', '=', id)

const columns = [
  'scim_user.user_id',
  'scim_user.user_name',
  'scim_user.external_id',
  sql<StoredAttributes>`scim_user.attributes`.as('attributes'),
  'scim_user.created_at',
  'scim_user.updated_at',
  'users.email',
  'users.display_name',
  'users.status',
] as const

/** Finds a user of a directory; undefined for all others. */
export async function findUser(
  db: Kysely<Schema>,
  directory: ProvisioningDirectory,
  id: string,
): Promise<FoundUser | undefined> {
  if (!isId('user', id)) return undefined
  const row = await selectUsers(db, directory)
    .select(columns)
    .select(sql<boolean>`(users.is_operator or users.operator_role is not null)`.as('is_operator'))
    .where('scim_user.user_id', '=', id)
    .executeTakeFirst()
  if (!row) return undefined
  const { is_operator: isOperator, ...record } = row
  const [resource] = await render(db, [record], '')
  return resource && { ...record, is_operator: isOperator, version: resource.meta.version }
}

/** Reads a user as its client sees it; undefined for one of another directory. */
export async function readUser(
  db: Kysely<Schema>,
  directory: ProvisioningDirectory,
  { id, address }: { id: string; address: string },
): Promise<Resource | undefined> {
  if (!isId('user', id)) return undefined
  const row = await selectUsers(db, directory)
    .select(columns)
    .where('scim_user.user_id', '=', id)
    .executeTakeFirst()
  return row && (await render(db, [row], address))[0]
}

/** Reads a page of users, the oldest first. Throws `invalidFilter`. */
export async function listUsers(
  db: Kysely<Schema>,
  directory: ProvisioningDirectory,
  { address, ...list }: ListRequest & { address: string },
) {
  const filtered = list.conditions.reduce(
    (query, condition) => query.where(toPredicate(condition)),
    selectUsers(db, directory),
  )
  const { total } = await filtered
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await filtered
    .select(columns)
    .orderBy('scim_user.user_id')
    .offset(list.startIndex - 1)
    .limit(list.count)
    .execute()
  return { total: Number(total), resources: await render(db, rows, address) }
}

/** Returns the SQL of a condition. Names and addresses do not differ by case. */
function toPredicate({ attribute, value }: Condition) {
  switch (attribute) {
    case 'id':
      return sql<boolean>`scim_user.user_id = ${toText(value)}`
    case 'username':
      return sql<boolean>`lower(scim_user.user_name) = lower(${toText(value)})`
    case 'externalid':
      return sql<boolean>`scim_user.external_id = ${toText(value)}`
    case 'emails':
    case 'emails.value':
      return sql<boolean>`lower(users.email) = lower(${toText(value)})`
    case 'emails.type':
      return sql<boolean>`lower(${toText(value)}) = 'work'`
    case 'displayname':
      return sql<boolean>`lower(users.display_name) = lower(${toText(value)})`
    case 'active':
      return sql<boolean>`(users.status = 'active') = ${value === true}`
    default:
      throw badRequest('invalidFilter', `filter: "${attribute.slice(0, 80)}" cannot be compared.`)
  }
}

/** Returns the text of a condition's value. Throws `invalidFilter`. */
export function toText(value: Condition['value']): string {
  // PostgreSQL stores no NUL character, and so nothing equals it.
  if (typeof value === 'string' && !value.includes('\0') && value.isWellFormed()) return value
  throw badRequest('invalidFilter', 'filter: the value must be a text.')
}

async function render(
  db: Kysely<Schema>,
  rows: readonly UserRecord[],
  address: string,
): Promise<Resource[]> {
  const groups = await groupsOf(
    db,
    rows.map((row) => row.user_id),
  )
  return rows.map((row) => toUserResource(row, groups.get(row.user_id) ?? [], address))
}

async function groupsOf(
  db: Kysely<Schema>,
  userIds: readonly string[],
): Promise<Map<string, Reference[]>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('scim_group_member')
    .innerJoin('scim_group', 'scim_group.id', 'scim_group_member.group_id')
    .select(['user_id', 'scim_group.id as value', 'display_name as display'])
    .where('user_id', 'in', userIds)
    .orderBy('scim_group.id')
    .execute()
  const groups = new Map<string, Reference[]>()
  for (const { user_id: userId, ...group } of rows) {
    groups.set(userId, [...(groups.get(userId) ?? []), group])
  }
  return groups
}

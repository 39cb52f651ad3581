import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { groupRoles } from './schema'
import { recordChange, type RecordedFields } from '../../../audit-log/organization-trail'
import { hashOf, newDirectoryToken } from '../../../auth/api-key'
import { noteCreated } from '../../../platform/db/background-work'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { ScimDirectoryRow } from '../../../platform/db/scim-schema'
import { isReferred, isUniqueViolation } from '../../../platform/db/violation'
import { invalidRequest } from '../../../errors'
import { present, toTimestamp } from '../../../http/fields'
import { syncMemberships } from '../../../scim/memberships'

/** A group whose members are members of an organization. */
export interface GroupMapping {
  group_name: string
  organization_id: string
  role: (typeof groupRoles)[number]
}

/** A directory as it is stored. */
export type DirectoryRow = Selectable<ScimDirectoryRow> & {
  user_count: bigint
  groups: GroupMapping[]
}

/** Shows a directory; `address` is the base URL of the service. */
export const toDirectory = (row: DirectoryRow, address: string) => ({
  id: row.id,
  name: row.name,
  organization_id: row.organization_id,
  scim_url: `${address}/scim/v2`,
  domains: row.domains,
  groups: row.groups,
  user_count: Number(row.user_count),
  token_created_at: toTimestamp(row.token_created_at),
  last_used_at: row.last_used_at && toTimestamp(row.last_used_at),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

export const selectDirectories = (db: Kysely<Schema>) =>
  db
    .selectFrom('scim_directory')
    .selectAll()
    .select([
      sql<bigint>`(
        select count(*) from scim_user where directory_id = scim_directory.id
      )`.as('user_count'),
      sql<GroupMapping[]>`(
        select coalesce(jsonb_agg(jsonb_build_object('group_name', group_name,
          'organization_id', organization_id, 'role', role)
          order by lower(group_name), organization_id), '[]')
        from scim_group_mapping where directory_id = scim_directory.id
      )`.as('groups'),
    ])

interface NewDirectory {
  organizationId: string | null
  name: string
  domains: readonly string[]
  groups: readonly GroupMapping[]
}

/** Inserts a directory. Returns its id and its token, which is stored as a hash. */
export async function insertDirectory(
  trx: Transaction<Schema>,
  { organizationId, name, domains, groups }: NewDirectory,
): Promise<{ id: string; token: string }> {
  const id = newId('dir')
  const token = newDirectoryToken()
  noteCreated(id)
  await trx
    .insertInto('scim_directory')
    .values({
      id,
      organization_id: organizationId,
      name,
      domains: [...domains],
      token_hash: hashOf(token),
      last_used_at: null,
    })
    .execute()
  await insertMappings(trx, id, groups)
  await recordDirectory(trx, { id, name, organization_id: organizationId }, { deed: 'created' })
  return { id, token }
}

interface ChangedDirectory {
  name?: string | undefined
  domains?: readonly string[] | undefined
  groups?: readonly GroupMapping[] | undefined
}

/** Changes a directory, and the memberships that its groups make. Returns the users whose memberships have changed. */
export async function updateDirectory(
  trx: Transaction<Schema>,
  before: DirectoryRow,
  { groups, domains, name }: ChangedDirectory,
): Promise<string[]> {
  await trx
    .updateTable('scim_directory')
    .set({ ...present({ name, domains: domains && [...domains] }), updated_at: new Date() })
    .where('id', '=', before.id)
    .execute()
  const { id } = before
  await recordDirectory(trx, before, {
    deed: 'changed',
    before: { name: before.name, domains: before.domains, groups: toTexts(before.groups) },
    after: {
      name: name ?? before.name,
      domains: domains ?? before.domains,
      groups: toTexts(groups ?? before.groups),
    },
  })
  if (!groups) return []
  await trx.deleteFrom('scim_group_mapping').where('directory_id', '=', id).execute()
  await insertMappings(trx, id, groups)
  return syncMemberships(trx, { id }, await membersOf(trx, id, [...before.groups, ...groups]))
}

const toTexts = (groups: readonly GroupMapping[]) =>
  groups.map(
    ({ group_name: name, organization_id: organization, role }) =>
      `${name} → ${organization} ${role}`,
  )

async function insertMappings(
  trx: Transaction<Schema>,
  id: string,
  groups: readonly GroupMapping[],
): Promise<void> {
  if (groups.length === 0) return
  await trx
    .insertInto('scim_group_mapping')
    .values(groups.map((group) => ({ directory_id: id, ...group })))
    .execute()
    .catch((thrown: unknown) => {
      if (isUniqueViolation(thrown)) {
        throw invalidRequest('groups', 'duplicate', 'groups: has a group twice.')
      }
      if (!isReferred(thrown)) throw thrown
      throw invalidRequest('groups', 'unknown_value', 'groups: the organization does not exist.')
    })
}

/** Returns the members of groups of a directory, by their names. */
async function membersOf(
  trx: Transaction<Schema>,
  id: string,
  groups: readonly GroupMapping[],
): Promise<string[]> {
  const names = groups.map(({ group_name: name }) => name.toLowerCase())
  const { rows } = await sql<{ id: string }>`
    select distinct user_id as id
    from scim_group_member join scim_group on scim_group.id = group_id
    where directory_id = ${id} and lower(display_name) = any(${names}::text[])`.execute(trx)
  return rows.map((row) => row.id)
}

/** Gives a directory a new token; the one before is invalid at once. Returns the token. */
export async function replaceToken(
  trx: Transaction<Schema>,
  row: Pick<DirectoryRow, 'id' | 'name' | 'organization_id'>,
): Promise<string> {
  const token = newDirectoryToken()
  await trx
    .updateTable('scim_directory')
    .set({ token_hash: hashOf(token), token_created_at: new Date(), updated_at: new Date() })
    .where('id', '=', row.id)
    .execute()
  await recordDirectory(trx, row, { deed: 'token_replaced' })
  return token
}

/** Deletes a directory with its users and groups; accounts and memberships stay as they are. */
export async function deleteDirectory(trx: Transaction<Schema>, row: DirectoryRow): Promise<void> {
  await trx.deleteFrom('scim_directory').where('id', '=', row.id).execute()
  await recordDirectory(trx, row, { deed: 'deleted' })
}

/** Records a change in the audit log of the organization; that of operators has all requests of operators. */
async function recordDirectory(
  trx: Transaction<Schema>,
  row: Pick<DirectoryRow, 'id' | 'name' | 'organization_id'>,
  { deed, ...states }: DirectoryDeed,
): Promise<void> {
  if (row.organization_id === null) return
  await recordChange(trx, {
    organizationId: row.organization_id,
    action: `scim_directory.${deed}`,
    objectId: row.id,
    objectName: row.name,
    ...(states.after ? states : { after: { name: row.name } }),
  })
}

interface DirectoryDeed {
  deed: 'created' | 'changed' | 'token_replaced' | 'deleted'
  before?: RecordedFields
  after?: RecordedFields
}

import type { Kysely, Transaction } from 'kysely'
import {
  deleteDirectory,
  insertDirectory,
  replaceToken,
  selectDirectories,
  toDirectory,
  updateDirectory,
  type DirectoryRow,
  type GroupMapping,
} from './rows'
import type { ChangedScimDirectory, NewScimDirectory } from './schema'
import type { Principal } from '../../../auth/principal'
import { findRole, managers, requireRole, type Role } from '../../../auth/roles'
import { lockOwner, requireRow } from '../../../platform/db/account-row'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'

export interface DirectoryPorts {
  db: Kysely<Schema>
  /** The public address of the service, without a final slash. */
  address: () => string
  /** Called when an account was changed. */
  changed: (userId: string) => void
}

const maxOfOrganization = 5

/** Identifies a directory of an organization. */
interface DirectoryIds {
  id: string
  directoryId: string
}

export type ScimDirectoryStore = ReturnType<typeof createScimDirectoryStore>

/**
 * SCIM directories of organizations: the owner makes them and their tokens; the admins see them, and map groups to the roles
 * that they may give. Source: contract 2.6.
 */
export function createScimDirectoryStore({ db, address, changed }: DirectoryPorts) {
  return {
    async list(caller: Principal, id: string) {
      await requireManager(db, caller, id)
      const rows = await selectDirectories(db)
        .where('organization_id', '=', id)
        .orderBy('id', 'desc')
        .execute()
      return { directories: rows.map((row) => toDirectory(row, address())) }
    },
    async create(caller: Principal, id: string, fields: NewScimDirectory) {
      await requireOwner(db, caller, id)
      const { id: directoryId, token } = await insert(db, id, fields)
      return { ...toDirectory(await find(db, { id, directoryId }), address()), token }
    },
    async change(caller: Principal, ids: DirectoryIds, fields: ChangedScimDirectory) {
      const role = await requireManager(db, caller, ids.id)
      const userIds = await changeRow(db, ids, (trx, row) => {
        const groups = fields.groups && withOrganization(fields.groups, ids.id)
        if (groups) checkRoles(role, row.groups, groups)
        return updateDirectory(trx, row, { ...fields, groups })
      })
      for (const userId of userIds) changed(userId)
      return toDirectory(await find(db, ids), address())
    },
    async replaceToken(caller: Principal, ids: DirectoryIds) {
      await requireOwner(db, caller, ids.id)
      const token = await changeRow(db, ids, replaceToken)
      return { ...toDirectory(await find(db, ids), address()), token }
    },
    async delete(caller: Principal, ids: DirectoryIds) {
      await requireOwner(db, caller, ids.id)
      await changeRow(db, ids, deleteDirectory)
      return { success: true as const, message: 'The directory was deleted.' }
    },
  }
}

async function requireManager(db: Kysely<Schema>, { userId }: Principal, id: string) {
  const role = isId('org', id) ? await findRole(db, userId, id) : undefined
  if (role === undefined) throw new ApiError('resource_not_found')
  requireRole(role, managers)
  return role
}

async function requireOwner(db: Kysely<Schema>, caller: Principal, id: string): Promise<void> {
  requireRole(await requireManager(db, caller, id), ['owner'])
}

/** Finds a directory of the organization. Rejects with `resource_not_found` for all others. */
const find = (db: Kysely<Schema>, { id, directoryId }: DirectoryIds): Promise<DirectoryRow> =>
  requireRow('dir', directoryId, () =>
    selectDirectories(db)
      .where('id', '=', directoryId)
      .where('organization_id', '=', id)
      .executeTakeFirst(),
  )

/** Changes a directory while it is locked. */
const changeRow = <Result>(
  db: Kysely<Schema>,
  ids: DirectoryIds,
  change: (trx: Transaction<Schema>, row: DirectoryRow) => Promise<Result>,
): Promise<Result> =>
  db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('scim_directory')
      .select('id')
      .where('id', '=', ids.directoryId)
      .forUpdate()
      .execute()
    return change(trx, await find(trx, ids))
  })

const insert = (db: Kysely<Schema>, id: string, { name, groups }: NewScimDirectory) =>
  db.transaction().execute(async (trx) => {
    // One at a time, so that the count is exact.
    await lockOwner(trx, { user_id: null, organization_id: id })
    const { total } = await trx
      .selectFrom('scim_directory')
      .select(({ fn }) => fn.countAll<bigint>().as('total'))
      .where('organization_id', '=', id)
      .executeTakeFirstOrThrow()
    if (total >= maxOfOrganization) {
      const message = `An organization has at most ${maxOfOrganization} directories.`
      throw invalidRequest(null, 'limit_reached', message)
    }
    return insertDirectory(trx, {
      organizationId: id,
      name,
      domains: [],
      groups: withOrganization(groups, id),
    })
  })

const withOrganization = (
  groups: readonly Omit<GroupMapping, 'organization_id'>[],
  id: string,
): GroupMapping[] => groups.map((group) => ({ ...group, organization_id: id }))

/** Returns the names of the groups that make admins, as one text. */
const adminsOf = (groups: readonly GroupMapping[]): string =>
  groups
    .filter((group) => group.role === 'admin')
    .map((group) => group.group_name.toLowerCase())
    .toSorted()
    .join('\n')

/** An admin adds and removes no group that makes admins, as no one gives a role that is not below their own. */
function checkRoles(
  role: Role,
  before: readonly GroupMapping[],
  after: readonly GroupMapping[],
): void {
  if (role === 'owner') return
  if (adminsOf(before) !== adminsOf(after)) requireRole(role, ['owner'])
}

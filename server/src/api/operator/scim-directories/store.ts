import type { Kysely, Transaction } from 'kysely'
import {
  deleteDirectory,
  insertDirectory,
  replaceToken,
  selectDirectories,
  toDirectory,
  updateDirectory,
  type DirectoryRow,
} from '../../account/scim-directories/rows'
import type {
  ChangedInstallationDirectory,
  NewInstallationDirectory,
} from '../../account/scim-directories/schema'
import type { DirectoryPorts } from '../../account/scim-directories/store'
import { requireRow } from '../../../platform/db/account-row'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'

export type AnyScimDirectoryStore = ReturnType<typeof createAnyScimDirectoryStore>

/** SCIM directories of the installation and of all organizations, for operators. Source: contract 2.6. */
export function createAnyScimDirectoryStore({ db, address, changed }: DirectoryPorts) {
  return {
    async list(page: Page) {
      const { items, pagination } = await queryPage(db, selectDirectories(db), { page })
      return { directories: items.map((row) => toDirectory(row, address())), pagination }
    },
    async create({ name, domains, groups }: NewInstallationDirectory) {
      const fields = { organizationId: null, name, domains, groups }
      const { id, token } = await db.transaction().execute((trx) => insertDirectory(trx, fields))
      return { ...toDirectory(await find(db, id), address()), token }
    },
    async change(id: string, fields: ChangedInstallationDirectory) {
      const userIds = await changeRow(db, id, (trx, row) => {
        checkOrganizations(row, fields)
        return updateDirectory(trx, row, fields)
      })
      for (const userId of userIds) changed(userId)
      return toDirectory(await find(db, id), address())
    },
    async replaceToken(id: string) {
      const token = await changeRow(db, id, replaceToken)
      return { ...toDirectory(await find(db, id), address()), token }
    },
    async delete(id: string) {
      await changeRow(db, id, deleteDirectory)
      return { success: true as const, message: 'The directory was deleted.' }
    },
  }
}

const find = (db: Kysely<Schema>, id: string): Promise<DirectoryRow> =>
  requireRow('dir', id, () => selectDirectories(db).where('id', '=', id).executeTakeFirst())

const changeRow = <Result>(
  db: Kysely<Schema>,
  id: string,
  change: (trx: Transaction<Schema>, row: DirectoryRow) => Promise<Result>,
): Promise<Result> =>
  db.transaction().execute(async (trx) => {
    await trx.selectFrom('scim_directory').select('id').where('id', '=', id).forUpdate().execute()
    return change(trx, await find(trx, id))
  })

/** The groups of an organization's directory make members of that organization only. */
function checkOrganizations(
  { organization_id: organizationId }: DirectoryRow,
  { groups = [] }: ChangedInstallationDirectory,
): void {
  if (organizationId === null) return
  if (groups.every((group) => group.organization_id === organizationId)) return
  const message = 'groups: the directory of an organization makes members of that one only.'
  throw invalidRequest('groups', 'not_allowed', message)
}

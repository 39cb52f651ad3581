import type { Kysely, Selectable, Transaction, Updateable } from 'kysely'
import {
  testConnection,
  testFixed,
  type ConnectionPorts,
} from '../../account/connections/list-models'
import {
  findFixed,
  listFixed,
  refuseFixed,
} from '../../account/connections/environment-connections'
import {
  checkChange,
  checkProvider,
  toColumns,
  toSecretColumns,
} from '../../account/connections/rules'
import type {
  ChangedPlatformConnection,
  NewPlatformConnection,
  PlatformConnection,
} from '../../account/connections/schema'
import { toConnection } from '../../account/connections/connection-answer'
import { toLimitColumns } from '../../account/connections/limit-columns'
import {
  toNetworkColumns,
  toPlatformNetworkAnswer,
  withoutNetwork,
} from '../../account/connections/network-columns'
import { waitForLock } from '../../../platform/db/advisory-lock'
import { isId, newId } from '../../../platform/db/id'
import type { ConnectionRow, Schema } from '../../../platform/db/schema'
import { noteCreated } from '../../../platform/db/background-work'
import { ApiError } from '../../../errors'
import { queryPageWithFixed } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'
import { isObject } from '../../../wire/json-body'

const toPlatformConnection = (row: Selectable<ConnectionRow>): PlatformConnection => ({
  ...toConnection(row, { isManager: true }),
  scope: 'platform',
  organization_id: null,
  billing_mode: null,
  options: isObject(row.options) ? row.options : {},
  network: toPlatformNetworkAnswer(row.network),
  source: 'stored',
})

export type PlatformConnectionStore = ReturnType<typeof createPlatformConnectionStore>

/**
 * Platform connections, for operators. All reject with `resource_not_found` for unknown ids, and changes of one that is
 * not stored with `wrong_state`.
 */
export function createPlatformConnectionStore(ports: ConnectionPorts) {
  const { db, catalog, sealingKeys } = ports

  async function update(id: string, fields: Updateable<ConnectionRow>) {
    const changed = await db
      .updateTable('connection')
      .set({ ...fields, updated_at: new Date() })
      .where('id', '=', id)
      .where('scope', '=', 'platform')
      .returningAll()
      .executeTakeFirst()
    if (!changed) throw new ApiError('resource_not_found')
    await catalog.refresh()
    return toPlatformConnection(changed)
  }

  return {
    list: (page: Page, search: string | undefined) => listConnections(ports, page, search),
    get: async (id: string) =>
      findFixed(catalog, id)?.answer ?? toPlatformConnection(await findRow(db, id)),
    create: (fields: NewPlatformConnection) => createConnection(ports, fields),
    async change(id: string, fields: ChangedPlatformConnection) {
      refuseFixed(catalog, id)
      const changed = await db.transaction().execute((trx) => change(trx, id, { ports, fields }))
      await catalog.refresh()
      return toPlatformConnection(changed)
    },
    async updateKey(id: string, secret: string) {
      refuseFixed(catalog, id)
      await findRow(db, id)
      const columns = toSecretColumns(secret, id, sealingKeys)
      await update(id, { ...columns, status: 'active', last_error: null })
      return { success: true as const, message: 'The key was replaced.' }
    },
    async delete(id: string) {
      refuseFixed(catalog, id)
      await findRow(db, id)
      await db.deleteFrom('connection').where('id', '=', id).execute()
      await catalog.refresh()
      return { success: true as const, message: 'The connection was deleted.' }
    },
    async test(id: string) {
      const fixed = findFixed(catalog, id)
      if (fixed) return testFixed(ports, fixed.connection)
      const answer = await testConnection(ports, await findRow(db, id))
      await catalog.refresh()
      return answer
    },
  }
}

/** Checks the row as it is at the write: a secret stays with the address that it was given for. */
async function change(
  trx: Transaction<Schema>,
  id: string,
  { ports, fields }: { ports: ConnectionPorts; fields: ChangedPlatformConnection },
) {
  const { provider } = await findRow(trx, id)
  if (fields.is_default) await waitForLock(trx, 'platformDefault', provider)
  await trx
    .selectFrom('connection')
    .select('id')
    .where('id', '=', id)
    .where('scope', '=', 'platform')
    .forNoKeyUpdate()
    .execute()
  const row = await findRow(trx, id)
  const columns = toColumns(row, fields, ports.sealingKeys)
  checkChange(ports.catalog, row, { columns, changed: fields })
  if (fields.is_default) await clearDefault(trx, provider)
  return trx
    .updateTable('connection')
    .set({ ...columns, updated_at: new Date() })
    .where('id', '=', id)
    .where('scope', '=', 'platform')
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function findRow(db: Kysely<Schema>, id: string) {
  if (!isId('conn', id)) throw new ApiError('resource_not_found')
  const row = await db
    .selectFrom('connection')
    .selectAll()
    .where('id', '=', id)
    .where('scope', '=', 'platform')
    .executeTakeFirst()
  if (!row) throw new ApiError('resource_not_found')
  return row
}

async function createConnection(ports: ConnectionPorts, fields: NewPlatformConnection) {
  const { db, catalog } = ports
  const provider = checkProvider(catalog, fields)
  // Connections from the environment have no rows.
  const isFirst = (catalog.snapshot.connections.get(provider.key) ?? []).length === 0
  const row = await db.transaction().execute(async (trx) => {
    await waitForLock(trx, 'platformDefault', provider.key)
    const isDefault = fields.is_default ?? (isFirst && (await hasNone(trx, provider.key)))
    if (isDefault) await clearDefault(trx, provider.key)
    return insert(trx, { ...fields, provider: provider.key, is_default: isDefault }, ports)
  })
  await catalog.refresh()
  return toPlatformConnection(row)
}

async function hasNone(trx: Transaction<Schema>, provider: string): Promise<boolean> {
  const existingConnection = await trx
    .selectFrom('connection')
    .select('id')
    .where('provider', '=', provider)
    .where('scope', '=', 'platform')
    .executeTakeFirst()
  return existingConnection === undefined
}

function insert(
  trx: Transaction<Schema>,
  fields: NewPlatformConnection & { is_default: boolean },
  { sealingKeys }: ConnectionPorts,
) {
  const id = newId('conn')
  noteCreated(id)
  return trx
    .insertInto('connection')
    .values({
      id,
      scope: 'platform',
      name: fields.name,
      provider: fields.provider,
      endpoint_url: fields.endpoint_url ?? null,
      secret: null,
      api_key_prefix: null,
      ...(fields.api_key && toSecretColumns(fields.api_key, id, sealingKeys)),
      ...toNetworkColumns(withoutNetwork(id), { fields: fields.network }, sealingKeys),
      is_default: fields.is_default,
      priority: fields.priority ?? 100,
      options: JSON.stringify(fields.options ?? {}),
      ...toLimitColumns(fields.rate_limits),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

const clearDefault = (trx: Transaction<Schema>, provider: string) =>
  trx
    .updateTable('connection')
    .set({ is_default: false })
    .where('provider', '=', provider)
    .where('scope', '=', 'platform')
    .execute()

async function listConnections(
  { db, catalog }: ConnectionPorts,
  page: Page,
  search: string | undefined,
) {
  const filtered = db
    .selectFrom('connection')
    .where('scope', '=', 'platform')
    .$if(search !== undefined, (query) =>
      query.where((is) =>
        is.or([
          is('name', 'ilike', containing(search ?? '')),
          is('provider', 'ilike', containing(search ?? '')),
        ]),
      ),
    )
  const fixed = listFixed(catalog, search)
  const rows = { page, fixed, toAnswer: toPlatformConnection }
  const { items, pagination } = await queryPageWithFixed(db, filtered.selectAll(), rows)
  return { connections: items, pagination }
}

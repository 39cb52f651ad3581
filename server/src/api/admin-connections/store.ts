import type { Kysely, Selectable, Updateable } from 'kysely'
import type { ChangedConnection, NewConnection } from './schema'
import type { Catalog } from '../../catalog/catalog'
import type { Connection } from '../../catalog/snapshot'
import { toConnection as toStoredConnection } from '../../catalog/stored'
import { isId, newId } from '../../db/id'
import type { ConnectionRow, Schema } from '../../db/schema'
import { seal } from '../../db/sealed'
import { ApiError, invalidRequest } from '../../errors'
import { present, toTimestamp } from '../../http/fields'
import { containing, toPaged, type Page } from '../../http/paging'
import { ownAddress } from '../../providers/own-address'
import type { Provider } from '../../providers/provider'

/** What asks a connection for its models. */
export type Ask = (
  provider: Provider,
  connection: Connection,
) => Promise<{ success: boolean; message: string; latencyMs: number; models: string[] }>

export interface ConnectionPorts {
  db: Kysely<Schema>
  catalog: Catalog
  encryptionKey: Buffer
  ask: Ask
}

const toConnection = (row: Selectable<ConnectionRow>) => ({
  id: row.id,
  name: row.name,
  provider: row.provider,
  endpoint_url: row.endpoint_url,
  gateway_type: 2,
  gateway_id: null,
  status: row.status,
  scope: row.scope,
  organization_id: null,
  billing_mode: null,
  is_default: row.is_default,
  priority: row.priority,
  rate_limits: { rpm: row.rpm, tpm: row.tpm },
  options: row.options,
  model_count: row.model_count,
  api_key_prefix: row.api_key_prefix,
  last_error: row.last_error,
  last_tested_at: row.last_tested_at && toTimestamp(row.last_tested_at),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

/** Enough to tell keys apart, too little to use. */
const shownPart = (secret: string) => secret.slice(0, Math.min(8, Math.floor(secret.length / 4)))

const toSecretColumns = (secret: string, id: string, key: Buffer) => ({
  secret: seal(secret, key, id),
  api_key_prefix: shownPart(secret),
})

export type ConnectionStore = ReturnType<typeof createConnectionStore>

/** Platform connections, for operators. All reject with `resource_not_found` for unknown ids. */
export function createConnectionStore(ports: ConnectionPorts) {
  const { db, catalog, encryptionKey } = ports

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
    return toConnection(changed)
  }

  return {
    list: (page: Page, search: string | undefined) => listConnections(db, page, search),
    get: async (id: string) => toConnection(await findRow(db, id)),
    create: (fields: NewConnection) => createConnection(ports, fields),
    async change(id: string, fields: ChangedConnection) {
      const row = await findRow(db, id)
      const columns = toColumns(row, fields, encryptionKey)
      checkChange(catalog, row, columns)
      if (fields.is_default) await clearDefault(db, row.provider)
      return update(id, columns)
    },
    async updateKey(id: string, secret: string) {
      await findRow(db, id)
      const columns = toSecretColumns(secret, id, encryptionKey)
      await update(id, { ...columns, status: 'active', last_error: null })
      return { success: true, message: 'The key was replaced.' }
    },
    async delete(id: string) {
      await findRow(db, id)
      await db.deleteFrom('connection').where('id', '=', id).execute()
      await catalog.refresh()
      return { success: true, message: 'The connection was deleted.' }
    },
    test: async (id: string) => testConnection(ports, await findRow(db, id)),
  }
}

async function findRow(db: Kysely<Schema>, id: string) {
  if (!isId('conn', id)) throw new ApiError('resource_not_found')
  const found = await db
    .selectFrom('connection')
    .selectAll()
    .where('id', '=', id)
    .where('scope', '=', 'platform')
    .executeTakeFirst()
  if (!found) throw new ApiError('resource_not_found')
  return found
}

/** What a change writes. A secret belongs to the address that it was given for. */
function toColumns(
  row: Selectable<ConnectionRow>,
  { api_key: secret, rate_limits: limits, options, ...fields }: ChangedConnection,
  key: Buffer,
): Updateable<ConnectionRow> {
  const { endpoint_url: address } = fields
  if (secret !== undefined && address === undefined) {
    throw invalidRequest('api_key', 'not_allowed', 'api_key: change it with update-key.')
  }
  const isDiscarded = address !== undefined && address !== row.endpoint_url && secret === undefined
  return {
    ...present(fields),
    ...(limits && { rpm: limits.rpm ?? null, tpm: limits.tpm ?? null }),
    ...(options && { options: JSON.stringify(options) }),
    ...(secret !== undefined && toSecretColumns(secret, row.id, key)),
    ...(isDiscarded && { secret: null, api_key_prefix: null, status: 'inactive' }),
  }
}

/** What a change must leave: an address, and a secret where the provider needs one. */
function checkChange(
  { snapshot }: Catalog,
  row: Selectable<ConnectionRow>,
  columns: Updateable<ConnectionRow>,
): void {
  const provider = snapshot.providers.get(row.provider)
  if (columns.endpoint_url === null && provider?.baseUrl === null) {
    const words = `endpoint_url: ${provider.name} has no address of its own.`
    throw invalidRequest('endpoint_url', 'required', words)
  }
  if (columns.status === 'active' && !(columns.secret ?? row.secret) && !provider?.keyless) {
    throw invalidRequest('status', 'wrong_state', 'status: give it a key with update-key first.')
  }
}

/** The provider of a new connection; throws for what it lacks. */
function checkedProvider({ snapshot }: Catalog, fields: NewConnection): Provider {
  const provider = snapshot.providers.get(fields.provider)
  if (!provider) {
    throw invalidRequest('provider', 'unknown_value', `provider: there is no "${fields.provider}".`)
  }
  const address = fields.endpoint_url ?? addressFor(provider, fields) ?? provider.baseUrl
  // An address with a gap, such as a resource's name, is none.
  if (!address || address.includes('{')) {
    const words = `endpoint_url: ${provider.name} has no address of its own.`
    throw invalidRequest('endpoint_url', 'required', words)
  }
  if (!fields.api_key && !provider.keyless) {
    throw invalidRequest('api_key', 'required', `api_key: ${provider.name} needs one.`)
  }
  return provider
}

/** Throws `invalid_request` for a credential that is damaged. */
const addressFor = (provider: Provider, { api_key: secret, options = {} }: NewConnection) =>
  ownAddress({ provider, connection: { baseUrl: null, secret: secret ?? null, options } })

async function createConnection(ports: ConnectionPorts, fields: NewConnection) {
  const { db, catalog, encryptionKey } = ports
  const provider = checkedProvider(catalog, fields)
  const id = newId('conn')
  const others = catalog.snapshot.connections.get(provider.key) ?? []
  const isDefault = fields.is_default ?? others.length === 0
  if (isDefault) await clearDefault(db, provider.key)
  const row = await db
    .insertInto('connection')
    .values({
      id,
      scope: 'platform',
      name: fields.name,
      provider: provider.key,
      endpoint_url: fields.endpoint_url ?? null,
      secret: null,
      api_key_prefix: null,
      ...(fields.api_key && toSecretColumns(fields.api_key, id, encryptionKey)),
      is_default: isDefault,
      priority: fields.priority ?? 100,
      options: JSON.stringify(fields.options ?? {}),
      rpm: fields.rate_limits?.rpm ?? null,
      tpm: fields.rate_limits?.tpm ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await catalog.refresh()
  return toConnection(row)
}

const clearDefault = (db: Kysely<Schema>, provider: string) =>
  db
    .updateTable('connection')
    .set({ is_default: false })
    .where('provider', '=', provider)
    .where('scope', '=', 'platform')
    .execute()

async function testConnection(ports: ConnectionPorts, row: Selectable<ConnectionRow>) {
  const { db, catalog, encryptionKey, ask } = ports
  const provider = catalog.snapshot.providers.get(row.provider)
  if (!provider) throw new ApiError('resource_not_found')
  const { success, message, latencyMs, models } = await ask(
    provider,
    toStoredConnection(row, { encryptionKey }),
  )
  const status = success ? ('active' as const) : ('error' as const)
  const testedAt = new Date()
  await db
    .updateTable('connection')
    .set({
      status,
      last_error: success ? null : message,
      last_tested_at: testedAt,
      ...(success && { model_count: models.length }),
    })
    .where('id', '=', row.id)
    .execute()
  return {
    success,
    status,
    message,
    latency_ms: latencyMs,
    models_found: models.length,
    tested_at: toTimestamp(testedAt),
  }
}

async function listConnections(db: Kysely<Schema>, page: Page, search: string | undefined) {
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
  const [count, rows] = await Promise.all([
    filtered.select(({ fn }) => fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
    filtered
      .selectAll()
      .$if(page.before !== undefined, (query) => query.where('id', '<', page.before ?? ''))
      .orderBy('id', 'desc')
      .limit(page.limit + 1)
      .offset(page.offset)
      .execute(),
  ])
  const { shown, pagination } = toPaged(page, count.total, rows)
  return { connections: shown.map(toConnection), pagination }
}

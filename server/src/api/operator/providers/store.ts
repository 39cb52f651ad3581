import type { Kysely, Selectable } from 'kysely'
import { findBuiltIn, listBuiltIn, refuseBuiltIn } from './built-in'
import type { AnsweredProvider, ChangedProvider, NewProvider } from './schema'
import type { Catalog } from '../../../catalog/catalog'
import { isId, newId } from '../../../platform/db/id'
import type { ProviderRow, Schema } from '../../../platform/db/schema'
import { isUniqueViolation } from '../../../platform/db/violation'
import { ApiError, invalidRequest } from '../../../errors'
import { present, toTimestamp } from '../../../http/fields'
import { queryPageWithFixed } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'
import { providers } from '../../../providers/registry'
import { isObject } from '../../../wire/json-body'

const builtIn = new Set(providers.map(({ key }) => key))
// First parts of model ids and paths with another meaning.
const reserved = new Set(['collection', 'auto', 'admin', 'api', 'v1', 'native', 'docs', 'system'])

const toProvider = (row: Selectable<ProviderRow>): AnsweredProvider => ({
  id: row.id,
  key: row.key,
  name: row.name,
  adapter: row.dialect,
  base_url: row.base_url,
  auth: row.auth_header,
  keyless: row.keyless,
  description: row.description,
  website: row.website,
  logo_url: row.logo_url,
  enabled: row.enabled,
  options: isObject(row.options) ? row.options : {},
  built_in: false,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

const toColumns = ({ auth, options, ...fields }: Omit<ChangedProvider, 'name'>) =>
  present({ ...fields, auth_header: auth, options: options && JSON.stringify(options) })

function checkKey(key: string): void {
  if (reserved.has(key)) throw invalidRequest('key', 'reserved', `key: "${key}" is reserved.`)
  if (builtIn.has(key)) {
    throw invalidRequest('key', 'taken', `key: "${key}" is a built-in provider.`)
  }
}

/** Rejects a key that is a handle or a slug, as model ids could not tell the two apart. */
async function checkName(db: Kysely<Schema>, key: string): Promise<void> {
  const existingProvider = await db
    .selectFrom('public_name')
    .select('name')
    .where('name', '=', key)
    .executeTakeFirst()
  if (existingProvider)
    throw invalidRequest(
      'key',
      'taken',
      `key: "${key}" is already taken by a handle or an organization.`,
    )
}

export type ProviderStore = ReturnType<typeof createProviderStore>

/**
 * The providers that operators added, followed by the built-in ones. All reject with `resource_not_found` for
 * unknown ids, and changes of a built-in one with `wrong_state`.
 */
export function createProviderStore(db: Kysely<Schema>, catalog: Catalog) {
  async function get(id: string) {
    if (!isId('prov', id)) throw new ApiError('resource_not_found')
    const row = await db.selectFrom('provider').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) throw new ApiError('resource_not_found')
    return toProvider(row)
  }

  return {
    get: async (id: string) => findBuiltIn(catalog, id) ?? get(id),
    list: (page: Page, search: string | undefined) => listProviders({ db, catalog }, page, search),
    async create({ key, name, adapter, ...fields }: NewProvider) {
      checkKey(key)
      await checkName(db, key)
      const row = await db
        .insertInto('provider')
        .values({
          id: newId('prov'),
          key,
          name,
          dialect: adapter,
          options: '{}',
          ...toColumns(fields),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
        .catch((thrown: unknown) => {
          if (!isUniqueViolation(thrown)) throw thrown
          throw invalidRequest('key', 'taken', `key: a provider "${key}" already exists.`)
        })
      await catalog.refresh()
      return toProvider(row)
    },
    async change(id: string, { name, ...fields }: ChangedProvider) {
      refuseBuiltIn(catalog, id)
      await get(id)
      const row = await db
        .updateTable('provider')
        .set({ ...present({ name }), ...toColumns(fields), updated_at: new Date() })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      await catalog.refresh()
      return toProvider(row)
    },
    async delete(id: string) {
      refuseBuiltIn(catalog, id)
      await deleteUnused(db, await get(id))
      await catalog.refresh()
      return { success: true as const, message: 'The provider was deleted.' }
    },
  }
}

/** Throws `wrong_state` while the provider has models or connections, also ones that were added meanwhile. */
async function deleteUnused(db: Kysely<Schema>, { id, key }: { id: string; key: string }) {
  const row = await db
    .deleteFrom('provider')
    .where('id', '=', id)
    .where((is) =>
      is.not(is.exists(is.selectFrom('model').select('id').where('provider', '=', key))),
    )
    .where((is) =>
      is.not(is.exists(is.selectFrom('connection').select('id').where('provider', '=', key))),
    )
    .returning('id')
    .executeTakeFirst()
  if (row) return
  throw invalidRequest(null, 'wrong_state', 'Delete its models and connections first.')
}

interface Ports {
  db: Kysely<Schema>
  catalog: Catalog
}

async function listProviders({ db, catalog }: Ports, page: Page, search: string | undefined) {
  const filtered = db
    .selectFrom('provider')
    .$if(search !== undefined, (query) =>
      query.where((is) =>
        is.or([
          is('key', 'ilike', containing(search ?? '')),
          is('name', 'ilike', containing(search ?? '')),
        ]),
      ),
    )
  const rows = { page, fixed: listBuiltIn(catalog, search), toAnswer: toProvider }
  const { items, pagination } = await queryPageWithFixed(db, filtered.selectAll(), rows)
  return { providers: items, pagination }
}

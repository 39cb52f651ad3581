import type { Kysely, Selectable } from 'kysely'
import { readGatewayModels } from './gateway-models'
import type { Catalog } from '../../../catalog/catalog'
import { replaceDiscoveredModels, filterUnlisted } from '../../../catalog/discovered-models'
import type { ProviderConnection } from '../../../catalog/snapshot'
import { toConnection } from '../../../catalog/stored-models'
import type { ConnectionRow, Schema } from '../../../platform/db/schema'
import type { SealingKeys } from '../../../platform/db/sealed'
import { ApiError } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import type { Provider } from '../../../providers/provider'
import type { ModelListing } from '../../../providers/model-listing'

/** Lists the models of a connection from its provider. Never throws. */
export type ListModelsOf = (
  provider: Provider,
  connection: ProviderConnection,
) => Promise<ModelListing>

/** Dependencies for storing and testing connections. */
export interface ConnectionPorts {
  db: Kysely<Schema>
  catalog: Catalog
  sealingKeys: SealingKeys
  listModels: ListModelsOf
}

type Row = Selectable<ConnectionRow>

/** Lists a connection's models from its provider, and stores the result. Throws `resource_not_found`. */
export async function testConnection(ports: ConnectionPorts, row: Row) {
  const { db, catalog } = ports
  const provider = catalog.snapshot.providers.get(row.provider)
  if (!provider) throw new ApiError('resource_not_found')
  const { success, message, latencyMs, models } = await requestModels(ports, provider, row)
  const status = success ? ('active' as const) : ('error' as const)
  const testedAt = new Date()
  await db.transaction().execute(async (trx) => {
    const updated = await trx
      .updateTable('connection')
      .set({
        status,
        last_error: success ? null : message,
        last_tested_at: testedAt,
        ...(success && { model_count: models.length }),
      })
      .where('id', '=', row.id)
      // A connection whose key or address changed meanwhile is not the one that was tested.
      .where('endpoint_url', 'is not distinct from', row.endpoint_url)
      .where('secret', 'is not distinct from', row.secret)
      .executeTakeFirst()
    if (updated.numUpdatedRows === 0n) return
    // Models that only a test found have no price, so they are not stored for the operator's own connections.
    if (success && row.scope !== 'platform') {
      await replaceDiscoveredModels(trx, row.id, filterUnlisted(catalog.snapshot, provider, models))
    }
  })
  return toAnswer({ success, message, latencyMs, models }, testedAt)
}

const toAnswer = ({ success, message, latencyMs, models }: ModelListing, testedAt: Date) => ({
  success,
  status: success ? ('active' as const) : ('error' as const),
  message,
  latency_ms: latencyMs,
  models_found: models.length,
  tested_at: toTimestamp(testedAt),
})

/** Lists the models of a connection without a row, and stores nothing. Throws `resource_not_found`. */
export async function testFixed(
  { catalog, listModels }: ConnectionPorts,
  connection: ProviderConnection,
) {
  const provider = catalog.snapshot.providers.get(connection.provider)
  if (!provider) throw new ApiError('resource_not_found')
  return toAnswer(await listModels(provider, connection), new Date())
}

function requestModels(
  { db, sealingKeys, listModels }: ConnectionPorts,
  provider: Provider,
  row: Row,
) {
  if (row.gateway_type === 3) return readGatewayModels(db, row.gateway_id, provider)
  if (row.secret === null && !provider.keyless) {
    const message = 'The connection has no API key. Set one with update-key.'
    return Promise.resolve<ModelListing>({
      success: false,
      message,
      latencyMs: 0,
      models: [],
    })
  }
  return listModels(provider, toConnection(row, { sealingKeys }))
}

import type { Kysely } from 'kysely'
import { gatewayStatus } from '../../../platform/db/gateway-row'
import type { Schema } from '../../../platform/db/schema'
import type { Provider } from '../../../providers/provider'
import type { ModelListing } from '../../../providers/model-listing'

/**
 * Reads the models of a provider that a connection's gateway last announced: it announces each change to the node
 * that holds its socket. A failure is a result.
 */
export async function readGatewayModels(
  db: Kysely<Schema>,
  gatewayId: string | null,
  provider: Pick<Provider, 'key' | 'name'>,
): Promise<ModelListing> {
  const startedAt = performance.now()
  const gateway = gatewayId === null ? undefined : await findGateway(db, gatewayId)
  const latencyMs = Math.round(performance.now() - startedAt)
  const failed = (message: string): ModelListing => ({
    success: false,
    message,
    latencyMs,
    models: [],
  })
  if (!gateway) return failed('The gateway of this connection was deleted.')
  const { name, status, providers } = gateway
  if (status !== 'online') return failed(`The gateway "${name}" is not online: ${status}.`)
  if (!providers.includes(provider.key)) {
    return failed(`The gateway "${name}" does not serve ${provider.name}.`)
  }
  const models = gateway.models
    .filter((model) => model.provider === provider.key)
    .map((model) => model.name)
  const message = `The gateway "${name}" is online and serves ${models.length} models.`
  return { success: true, message, latencyMs, models }
}

const findGateway = (db: Kysely<Schema>, id: string) =>
  db
    .selectFrom('gateway')
    .select(['name', 'providers', 'models', gatewayStatus.as('status')])
    .where('id', '=', id)
    .executeTakeFirst()

import { toLimitColumns } from './limit-columns'
import type { PlatformConnection } from './schema'
import { secretPrefix } from './rules'
import type { Catalog } from '../../../catalog/catalog'
import type { ProviderConnection, Snapshot } from '../../../catalog/snapshot'
import { invalidRequest } from '../../../errors'

type Source = PlatformConnection['source']

const sourceOf = ({ provider }: ProviderConnection, { providers }: Snapshot): Source => {
  if (providers.get(provider)?.dialect === 'sandbox') return 'built_in'
  return provider === 'local' ? 'discovered' : 'environment'
}

/** Shows a platform connection that no operator stored. */
const toFixed = (connection: ProviderConnection, snapshot: Snapshot): PlatformConnection => ({
  id: connection.id,
  name: connection.name,
  provider: connection.provider,
  endpoint_url: connection.baseUrl,
  gateway_type: 2,
  gateway_id: null,
  status: 'active',
  scope: 'platform',
  organization_id: null,
  billing_mode: null,
  is_default: connection.isDefault,
  priority: connection.priority,
  rate_limits: toLimitColumns(),
  network: null,
  model_count: modelsOf(connection, snapshot),
  api_key_prefix: connection.secret && secretPrefix(connection.secret),
  last_error: null,
  last_tested_at: null,
  created_at: null,
  updated_at: null,
  options: connection.options,
  source: sourceOf(connection, snapshot),
})

/** Counts the catalogue's models of a connection's provider. */
function modelsOf({ provider, onlyModels }: ProviderConnection, { models }: Snapshot): number {
  if (onlyModels) return onlyModels.size
  let count = 0
  for (const model of models.values()) if (model.provider === provider) count++
  return count
}

/** Lists platform connections that no operator stored and whose name or provider contains `search`. */
export function listFixed({ fixed, snapshot }: Catalog, search = ''): PlatformConnection[] {
  const term = search.toLowerCase()
  return fixed.connections
    .filter(({ name, provider }) => `${name}\n${provider}`.toLowerCase().includes(term))
    .map((connection) => toFixed(connection, snapshot))
}

/** Returns the platform connection with this id that no operator stored; undefined without one. */
export function findFixed({ fixed, snapshot }: Catalog, id: string) {
  const connection = fixed.connections.find((one) => one.id === id)
  return connection && { connection, answer: toFixed(connection, snapshot) }
}

const origins = {
  environment: ({ name }: ProviderConnection) =>
    `This connection comes from the environment variable ${name}. Change it there and restart every node.`,
  discovered: ({ name }: ProviderConnection) =>
    `This connection is ${name} on this machine, discovered automatically. LOCAL_DISCOVERY=false disables discovery.`,
  built_in: () => 'This connection is built in. SANDBOX=false removes it.',
  stored: () => '',
} as const satisfies Record<Source, (connection: ProviderConnection) => string>

/** Throws `wrong_state` for a connection that no operator stored. */
export function refuseFixed(catalog: Catalog, id: string): void {
  const match = findFixed(catalog, id)
  if (!match) return
  throw invalidRequest(null, 'wrong_state', origins[match.answer.source](match.connection))
}

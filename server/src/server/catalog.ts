import type { Logger } from 'pino'
import type { Storage } from './storage'
import { createBuiltInModels } from '../catalog/built-in'
import { Catalog } from '../catalog/catalog'
import { createEnvironmentConnections } from '../catalog/from-environment'
import { toLocalModels } from '../catalog/local-models'
import type { ProviderConnection } from '../catalog/snapshot'
import { readStored } from '../catalog/stored-models'
import type { Config } from '../platform/config/config'
import { createLocalDiscovery } from '../jobs/discover-local-servers'
import { createPriceSchedule } from '../jobs/follow-prices'
import type { LocalServer } from '../upstream/http/local-servers'
import { providers as registry } from '../providers/registry'
import { tryReadFile } from '../platform/try-read-file'

interface CatalogServices {
  catalog: Catalog
  /** Starts the discovery of model servers on this machine, if it is enabled. */
  discoverLocalServers: (ownPort: number) => void
}

/** Creates the catalogue: it is read at the start, after every change and whenever a scheduled price begins. */
export async function createCatalog(
  { config, storage, log }: { config: Config; storage: Storage; log: Logger },
  disposables: AsyncDisposableStack,
): Promise<CatalogServices> {
  const { database, installation } = storage
  const providers = registry.filter(({ dialect }) => dialect !== 'sandbox' || config.sandbox)
  const modelsAt = createBuiltInModels(providers)
  const connections = createEnvironmentConnections(config.environment, providers, {
    readFile: tryReadFile,
  })
  const withDefaults = applyDefaults(config)
  let servers: LocalServer[] = []
  const catalog = new Catalog({
    fixed: () => {
      const local = toLocalModels(servers, config.environment)
      return {
        providers,
        models: [...modelsAt(Date.now()), ...local.models],
        connections: withDefaults([...connections, ...local.connections]),
      }
    },
    stored: async () => {
      const rows = await readStored(database.query, {
        sealingKeys: installation.sealingKeys,
        onDamaged: (what, err) => log.error({ err }, `a ${what} is invalid and was skipped`),
      })
      return { ...rows, connections: withDefaults(rows.connections) }
    },
    onError: (err) =>
      log.warn({ err }, 'the catalogue could not be read; the previous one stays in use'),
  })
  await disposables.use(catalog).refresh()
  disposables.use(createPriceSchedule(catalog))
  return {
    catalog,
    discoverLocalServers: (ownPort) => {
      if (!config.localDiscovery) return
      const discovery = createLocalDiscovery({
        ownPort,
        environment: config.environment,
        onChange: (foundServers) => {
          servers = foundServers
          catalog.refreshSoon()
        },
        log,
      })
      disposables.defer(() => discovery.stop())
    },
  }
}

/** Returns a function that completes the options of the operator's connections by those that the configuration sets. */
function applyDefaults({ remoteUrls, hidesCachedTokens }: Config) {
  const defaults = {
    ...(remoteUrls && { remote_urls: remoteUrls }),
    ...(hidesCachedTokens && { hide_cached_tokens: true }),
  }
  return (connections: readonly ProviderConnection[]): ProviderConnection[] =>
    connections.map((connection) => ({
      ...connection,
      options: { ...defaults, ...connection.options },
    }))
}

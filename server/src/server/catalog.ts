import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Storage } from './storage'
import { createBuiltInModels, priceSlot } from '../catalog/built-in'
import { Catalog } from '../catalog/catalog'
import { createEnvironmentConnections } from '../catalog/from-environment'
import { toLocalModels } from '../catalog/local-models'
import { readStored } from '../catalog/stored-models'
import type { Config } from '../platform/config/config'
import { findLocalServers, type LocalServer } from '../upstream/http/local-servers'
import { providers as registry } from '../providers/registry'

const lookAgainMs = 30_000
const pricesEveryMs = 5000

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

interface OpenedCatalog {
  catalog: Catalog
  lookForLocalServers: (ownPort: number) => Disposable
}

/** Opens the catalogue: it is read at the start, after every change and whenever a scheduled price begins. */
export async function openCatalog(
  { config, storage, log }: { config: Config; storage: Storage; log: Logger },
  stack: AsyncDisposableStack,
): Promise<OpenedCatalog> {
  const { database, installation } = storage
  const providers = registry.filter(({ dialect }) => dialect !== 'sandbox' || config.sandbox)
  const modelsAt = createBuiltInModels(providers)
  const connections = createEnvironmentConnections(config.environment, providers, { readFile })
  let servers: LocalServer[] = []
  const catalog = new Catalog({
    fixed: () => {
      const local = toLocalModels(servers, config.environment)
      return {
        providers,
        models: [...modelsAt(Date.now()), ...local.models],
        connections: [...connections, ...local.connections],
      }
    },
    stored: () =>
      readStored(database.query, {
        sealingKeys: installation.sealingKeys,
        onDamaged: (what, err) => log.error({ err }, `a ${what} cannot be used and was left out`),
      }),
    onError: (err) => log.warn({ err }, 'the catalogue could not be read; the last one stays'),
  })
  await stack.use(catalog).refresh()
  stack.use(followPrices(catalog))

  const look = async (ownPort: number) => {
    const found = await findLocalServers({ ownPort, environment: config.environment })
    if (JSON.stringify(found) === JSON.stringify(servers)) return
    servers = found
    const names = found.map(({ server, models: theirs }) => `${server} (${theirs.length})`)
    log.info(`local servers with models: ${names.join(', ') || 'none'}`)
    catalog.refreshSoon()
  }
  return {
    catalog,
    lookForLocalServers: (ownPort) => {
      if (!config.localDiscovery) return { [Symbol.dispose]: () => undefined }
      void look(ownPort)
      return every(lookAgainMs, () => void look(ownPort))
    },
  }
}

function followPrices(catalog: Catalog): Disposable {
  let slot = priceSlot(Date.now())
  return every(pricesEveryMs, () => {
    const now = priceSlot(Date.now())
    if (now !== slot) catalog.refreshSoon()
    slot = now
  })
}

function every(ms: number, work: () => void): Disposable {
  const timer = setInterval(work, ms)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

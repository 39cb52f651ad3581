import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Storage } from './storage'
import { builtInModels } from '../catalog/built-in'
import { Catalog } from '../catalog/catalog'
import { connectionsFrom } from '../catalog/from-environment'
import { fromLocalServers } from '../catalog/local-models'
import { readStored } from '../catalog/stored'
import type { Config } from '../config'
import { findLocalServers, type LocalServer } from '../egress/local-servers'
import { providers as registry } from '../providers/registry'

const lookAgainMs = 30_000

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The catalogue, read once, and again after every change. */
export async function openCatalog(
  config: Config,
  { database, installation }: Storage,
  log: Logger,
): Promise<{ catalog: Catalog; lookForLocalServers: (ownPort: number) => Disposable }> {
  const providers = registry.filter(({ dialect }) => dialect !== 'sandbox' || config.sandbox)
  const models = builtInModels(providers)
  const connections = connectionsFrom(config.environment, providers, { readFile })
  let servers: LocalServer[] = []
  const catalog = new Catalog({
    fixed: () => {
      const local = fromLocalServers(servers, config.environment)
      return {
        providers,
        models: [...models, ...local.models],
        connections: [...connections, ...local.connections],
      }
    },
    stored: () =>
      readStored(database.query, {
        encryptionKey: installation.encryptionKey,
        onDamaged: (what, err) => log.error({ err }, `a ${what} cannot be used and was left out`),
      }),
    onError: (err) => log.warn({ err }, 'the catalogue could not be read; the last one stays'),
  })
  await catalog.refresh()

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
      const timer = setInterval(() => void look(ownPort), lookAgainMs)
      timer.unref()
      return { [Symbol.dispose]: () => clearInterval(timer) }
    },
  }
}

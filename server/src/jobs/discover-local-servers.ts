import type { Logger } from 'pino'
import { Periodic } from '../platform/periodic'
import { findLocalServers, type LocalServer } from '../upstream/http/local-servers'

const intervalMs = 30_000

interface Dependencies {
  /** The port of this server, which is not asked. */
  ownPort: number
  environment: Readonly<Record<string, string | undefined>>
  /** Called with all servers when they differ from those before; at first there are none. */
  onChange: (servers: LocalServer[]) => void
  log: Logger
}

/** The discovery of model servers on this machine, at once and then every half minute. */
export function createLocalDiscovery(dependencies: Dependencies): Periodic {
  const { ownPort, environment, onChange, log } = dependencies
  let lastText = '[]'
  const run = async () => {
    const servers = await findLocalServers({ ownPort, environment })
    const text = JSON.stringify(servers)
    if (text === lastText) return
    lastText = text
    const names = servers.map(({ server, models }) => `${server} (${models.length})`)
    log.info(`local servers with models: ${names.join(', ') || 'none'}`)
    onChange(servers)
  }
  void run()
  return new Periodic({ intervalMs, run })
}

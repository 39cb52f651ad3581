import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { LauncherLink } from './workers/launcher-link'
import { insertConnection } from '../api/account/connections/insert'
import { recordConnection, connectionAuditFields } from '../api/account/connections/recorded'
import type { Catalog } from '../catalog/catalog'
import type { Config } from '../platform/config/config'
import { newId } from '../platform/db/id'
import type { GatewayTransport } from '../upstream/http/gateway-call'
import { LocalTunnels, transportFor } from '../tunnel/local-tunnels'
import type { Links } from '../tunnel/tunnel-connection'
import { RemoteTunnelRelay, type TunnelChannelEvents } from '../tunnel/remote-tunnel-relay'
import { createGatewayRows, type GatewayRows, toOwnerColumns } from '../tunnel/gateway-store'
import { Sockets } from '../tunnel/sockets'
import type { FailedAuthentications } from '../limits/failed-authentications'

interface Dependencies {
  config: Config
  storage: Storage
  catalog: Catalog
  log: Logger
  failures: FailedAuthentications
  /** Set in a worker. */
  launcher: LauncherLink | undefined
  /** Called when something of an account or an organization has changed. */
  changed: (ownerId: string) => void
}

const maxNameLength = 100

export interface TunnelServices {
  sockets: Sockets
  /** The transport to the models that gateways serve. */
  gateways: GatewayTransport
  links: Links
  /** Undefined if this is the only process, as far as it knows: no worker, and without Redis. */
  remoteRelay: RemoteTunnelRelay | undefined
  /** Handles a database notification: `<gateway> <socket>`, or `<gateway>` alone for a deleted one. */
  onNotification: (payload: string) => void
  /** Notifications may have been missed. */
  onGap: () => void
}

/** Creates the sockets of self-hosted gateways. */
export async function createTunnelServices(
  dependencies: Dependencies,
  disposables: AsyncDisposableStack,
): Promise<TunnelServices> {
  const { config, storage, catalog, log, failures, changed, launcher } = dependencies
  const localTunnels = new LocalTunnels()
  const node = newId('node')
  const rows = createGatewayRows({
    db: storage.database.query,
    timeoutFor: (nearMs) => storage.database.liveness.timeoutFor(nearMs),
    node,
    catalog,
    connect: async (trx, gateway, provider) => {
      const row = await insertConnection(trx, {
        id: newId('conn'),
        owner: toOwnerColumns(gateway),
        name: `${gateway.name} ${provider}`.slice(-maxNameLength).trim(),
        provider,
        gateway_type: 3,
        gateway_id: gateway.id,
      })
      await recordConnection(trx, 'connection.created', { row, after: connectionAuditFields(row) })
    },
  })
  // Created before the sockets, whose disconnects it publishes.
  const remoteRelay = await createTunnelRelay(
    { config, log, rows, links: localTunnels, node, launcher },
    disposables,
  )
  const sockets = disposables.use(
    new Sockets({
      rows,
      attached: localTunnels,
      failures,
      changed,
      providers: () => catalog.snapshot.providers,
      heartbeatMs: config.gatewayHeartbeatMs,
      onError: (err) => log.warn({ err }, 'the state of a gateway could not be stored'),
    }),
  )
  return {
    sockets,
    gateways: transportFor(localTunnels, remoteRelay),
    links: localTunnels,
    remoteRelay,
    onNotification: (payload) => {
      sockets.onNotification(payload)
      remoteRelay?.directory.invalidate(payload.split(' ')[0] ?? '')
    },
    onGap: () => {
      sockets.recheck()
      remoteRelay?.directory.invalidateAll()
    },
  }
}

interface Shared extends Pick<Dependencies, 'config' | 'log' | 'launcher'> {
  rows: GatewayRows
  links: Links
  node: string
}

/** Creates the relay to the gateways of other nodes: over Redis, or to other workers through their launcher. */
async function createTunnelRelay(
  { config: { redisUrl: url }, log, rows, links, node, launcher }: Shared,
  disposables: AsyncDisposableStack,
): Promise<RemoteTunnelRelay | undefined> {
  if (url === undefined) {
    if (!launcher) return undefined
    const open = (on: TunnelChannelEvents) => launcher.openChannel(node, on)
    return disposables.use(new RemoteTunnelRelay({ node, links, rows, open }))
  }
  const onError = (err: Error) =>
    log.warn({ err }, 'Redis is unavailable: self-hosted gateways on other nodes are unreachable')
  const { NodeChannel } = await import('../platform/db/node-channel')
  const open = (on: TunnelChannelEvents) => new NodeChannel({ url, node, onError, ...on })
  return disposables.use(new RemoteTunnelRelay({ node, links, rows, open }))
}

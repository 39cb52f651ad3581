import type { Logger } from 'pino'
import type { Storage } from './storage'
import { insertConnection } from '../api/account/connections/insert'
import { recordConnection, toldConnection } from '../api/account/connections/recorded'
import type { Catalog } from '../catalog/catalog'
import type { Config } from '../platform/config/config'
import { newId } from '../platform/db/id'
import { NodeChannel } from '../platform/db/node-channel'
import type { GatewayWay } from '../upstream/http/gateway-call'
import { LocalTunnels, transportFor, type Links } from '../tunnel/local-tunnels'
import { RemoteTunnelRelay } from '../tunnel/remote-tunnel-relay'
import { createGatewayRows, type GatewayRows } from '../tunnel/gateway-store'
import type { GatewayIdentity } from '../tunnel/tunnel-connection'
import { Sockets } from '../tunnel/sockets'
import type { FailedAuthentications } from '../limits/failed-authentications'

interface Parts {
  config: Config
  storage: Storage
  catalog: Catalog
  log: Logger
  failures: FailedAuthentications
  /** Called when something of an account or an organization has changed. */
  changed: (ownerId: string) => void
}

const mostName = 100

export interface OpenedSockets {
  sockets: Sockets
  /** The transport to the models that gateways serve. */
  gateways: GatewayWay
  links: Links
  /** Undefined if nodes share no Redis. */
  elsewhere: RemoteTunnelRelay | undefined
  /** Handles a database notification: `<gateway> <socket>`, or `<gateway>` alone for a deleted one. */
  heard: (payload: string) => void
  /** Notifications may have been missed. */
  onGap: () => void
}

/** Opens the sockets of self-hosted gateways. */
export function openSockets(parts: Parts, stack: AsyncDisposableStack): OpenedSockets {
  const { config, storage, catalog, log, failures, changed } = parts
  const attached = new LocalTunnels()
  const node = newId('node')
  const rows = createGatewayRows({
    db: storage.database.query,
    node,
    catalog,
    connect: async (trx, gateway, provider) => {
      const row = await insertConnection(trx, {
        id: newId('conn'),
        owner: ownerOf(gateway),
        name: `${gateway.name} ${provider}`.slice(-mostName).trim(),
        provider,
        gateway_type: 3,
        gateway_id: gateway.id,
      })
      await recordConnection(trx, 'connection.created', { row, after: toldConnection(row) })
    },
  })
  // Created before the sockets, whose disconnects it publishes.
  const elsewhere = openElsewhere({ config, log, rows, links: attached, node }, stack)
  const sockets = stack.use(
    new Sockets({
      rows,
      attached,
      failures,
      changed,
      providers: () => catalog.snapshot.providers,
      heartbeatMs: config.gatewayHeartbeatMs,
      onError: (err) => log.warn({ err }, 'what a gateway said could not be written down'),
    }),
  )
  return {
    sockets,
    gateways: transportFor(attached, elsewhere),
    links: attached,
    elsewhere,
    heard: (payload) => {
      sockets.heard(payload)
      elsewhere?.directory.forget(payload.split(' ')[0] ?? '')
    },
    onGap: () => {
      sockets.recheck()
      elsewhere?.directory.distrust()
    },
  }
}

interface Shared extends Pick<Parts, 'config' | 'log'> {
  rows: GatewayRows
  links: Links
  node: string
}

/** Opens the relay over Redis to the gateways of other nodes. */
function openElsewhere(
  { config: { redisUrl: url }, log, rows, links, node }: Shared,
  stack: AsyncDisposableStack,
): RemoteTunnelRelay | undefined {
  if (url === undefined) return undefined
  const onError = (err: Error) =>
    log.warn({ err }, 'Redis is away: gateways of other nodes are not reached')
  const open = (on: Heard) => new NodeChannel({ url, node, onError, ...on })
  return stack.use(new RemoteTunnelRelay({ node, links, rows, open }))
}

type Heard = Parameters<ConstructorParameters<typeof RemoteTunnelRelay>[0]['open']>[0]

const ownerOf = ({ userId, organizationId }: GatewayIdentity) => ({
  user_id: userId,
  organization_id: organizationId,
})

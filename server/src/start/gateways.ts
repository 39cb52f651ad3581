import type { Logger } from 'pino'
import type { Storage } from './storage'
import { insertConnection } from '../api/connections/insert'
import { recordConnection, toldConnection } from '../api/connections/recorded'
import type { Catalog } from '../catalog/catalog'
import type { Config } from '../config'
import { newId } from '../db/id'
import type { GatewayWay } from '../egress/gateway-call'
import { Attached, wayBy, type Links } from '../gateways/attached'
import { createGatewayRows } from '../gateways/gateway-store'
import type { GatewayIdentity } from '../gateways/link'
import { Sockets } from '../gateways/sockets'
import type { FailedAuthentications } from '../policy/failed-authentications'

interface Parts {
  config: Config
  storage: Storage
  catalog: Catalog
  log: Logger
  failures: FailedAuthentications
  /** Something of an account or an organization was changed. */
  changed: (ownerId: string) => void
}

const mostName = 100

interface OpenedSockets {
  sockets: Sockets
  /** The way to what they serve. */
  gateways: GatewayWay
  links: Links
}

/** The sockets of self-hosted gateways. */
export function openSockets(parts: Parts, stack: AsyncDisposableStack): OpenedSockets {
  const { config, storage, catalog, log, failures, changed } = parts
  const attached = new Attached()
  const rows = createGatewayRows({
    db: storage.database.query,
    node: newId('node'),
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
  return { sockets, gateways: wayBy(attached), links: attached }
}

const ownerOf = ({ userId, organizationId }: GatewayIdentity) => ({
  user_id: userId,
  organization_id: organizationId,
})

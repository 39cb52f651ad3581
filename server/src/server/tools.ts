import type { GatewayTools } from '../automation/tools'
import { findUsableGateway } from '../automation/session-rows'
import type { Storage } from './storage'
import { ApiError, unavailable } from '../errors'
import type { Links } from '../tunnel/local-tunnels'
import type { RemoteTunnelRelay } from '../tunnel/remote-tunnel-relay'

interface Ways {
  /** The gateways whose sockets are on this node. */
  links: Links
  /** The gateways of other nodes. */
  elsewhere: Pick<RemoteTunnelRelay, 'toolsOf' | 'callTool'> | undefined
}

/** Opens the tools of gateways, on whichever node their sockets are. */
export const openTools = (
  { database }: Pick<Storage, 'database'>,
  { links, elsewhere }: Ways,
): GatewayTools => ({
  async of(gatewayId, userId) {
    const status = await findUsableGateway(database.query, userId, gatewayId)
    if (status === undefined) throw new ApiError('resource_not_found')
    const link = links.find(gatewayId)
    return link ? link.announced?.tools : elsewhere?.toolsOf(gatewayId)
  },
  call: (gatewayId, call) =>
    links.find(gatewayId)?.callTool(call) ??
    elsewhere?.callTool(gatewayId, call) ??
    Promise.reject(unavailable()),
})

import type { GatewayTools } from '../automation/tools'
import { findUsableGateway } from '../automation/session-rows'
import type { Storage } from './storage'
import { ApiError, unavailable } from '../errors'
import type { Links } from '../tunnel/tunnel-connection'
import type { RemoteTunnelRelay } from '../tunnel/remote-tunnel-relay'

interface ToolTransports {
  /** The gateways whose sockets are on this node. */
  links: Links
  /** The gateways of other nodes. */
  remoteRelay: Pick<RemoteTunnelRelay, 'toolsOf' | 'callTool'> | undefined
}

/** Creates the tools of gateways, on whichever node their sockets are. */
export const createTools = (
  { database }: Pick<Storage, 'database'>,
  { links, remoteRelay }: ToolTransports,
): GatewayTools => ({
  async of(gatewayId, userId) {
    const status = await findUsableGateway(database.query, userId, gatewayId)
    if (status === undefined) throw new ApiError('resource_not_found')
    const link = links.find(gatewayId)
    return link ? link.capabilities?.tools : remoteRelay?.toolsOf(gatewayId)
  },
  call: (gatewayId, call) =>
    links.find(gatewayId)?.callTool(call) ??
    remoteRelay?.callTool(gatewayId, call) ??
    Promise.reject(unavailable()),
})

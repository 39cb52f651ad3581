import type { Tools } from '../automation/tools'
import { usableGateway } from '../automation/session-rows'
import type { Storage } from './storage'
import { ApiError, unavailable } from '../errors'
import type { Links } from '../gateways/attached'
import type { Elsewhere } from '../gateways/elsewhere'

interface Ways {
  /** The gateways whose sockets are here. */
  links: Links
  /** Those of other nodes. */
  elsewhere: Pick<Elsewhere, 'toolsOf' | 'callTool'> | undefined
}

/** The tools of gateways, wherever their sockets are. */
export const openTools = (
  { database }: Pick<Storage, 'database'>,
  { links, elsewhere }: Ways,
): Tools => ({
  async of(gatewayId, userId) {
    const status = await usableGateway(database.query, userId, gatewayId)
    if (status === undefined) throw new ApiError('resource_not_found')
    const link = links.find(gatewayId)
    return link ? link.announced?.tools : elsewhere?.toolsOf(gatewayId)
  },
  call: (gatewayId, call) =>
    links.find(gatewayId)?.callTool(call) ??
    elsewhere?.callTool(gatewayId, call) ??
    Promise.reject(unavailable()),
})

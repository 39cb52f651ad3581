import type { Tools } from '../automation/tools'
import { usableGateway } from '../automation/session-rows'
import type { Storage } from './storage'
import { ApiError, unavailable } from '../errors'
import type { Links } from '../gateways/attached'

/** The tools of the gateways whose sockets `links` finds. */
export const openTools = ({ database }: Pick<Storage, 'database'>, links: Links): Tools => ({
  async of(gatewayId, userId) {
    const status = await usableGateway(database.query, userId, gatewayId)
    if (status === undefined) throw new ApiError('resource_not_found')
    return links.find(gatewayId)?.announced?.tools
  },
  call: (gatewayId, call) => links.find(gatewayId)?.callTool(call) ?? Promise.reject(unavailable()),
})

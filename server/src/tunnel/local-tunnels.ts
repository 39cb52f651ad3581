import type { RemoteTunnelRelay } from './remote-tunnel-relay'
import { closeCodes } from './frames'
import type { Links, TunnelConnection } from './tunnel-connection'
import type { Answer } from '../upstream/http/answer'
import { GatewayLost, type GatewayCall, type GatewayTransport } from '../upstream/http/gateway-call'

/** The sockets of gateways that this process has: one for each gateway. */
export class LocalTunnels implements Links {
  readonly #links = new Map<string, TunnelConnection>()

  find(gatewayId: string): TunnelConnection | undefined {
    return this.#links.get(gatewayId)
  }

  all(): TunnelConnection[] {
    return [...this.#links.values()]
  }

  /** Keeps the newer socket, in whichever order they arrive. */
  attach(link: TunnelConnection): void {
    const { id } = link.gateway
    const last = this.#links.get(id)
    const isOlder = last !== undefined && last.socketId > link.socketId
    if (!isOlder) this.#links.set(id, link)
    const replaced = isOlder ? link : last
    replaced?.close(closeCodes.replaced, 'replaced by a newer socket')
  }

  /** Removes a socket. Calling it twice is harmless. */
  detach(link: TunnelConnection): void {
    if (this.#links.get(link.gateway.id) === link) this.#links.delete(link.gateway.id)
  }
}

/** Reaches gateways whose sockets other processes have. */
type RemoteTunnels = Pick<RemoteTunnelRelay, 'lookUp' | 'takes' | 'takesMedia' | 'request'>

/** Sends requests over the socket that `links` finds, else through the node that has it. */
export const transportFor = (links: Links, remoteRelay?: RemoteTunnels): GatewayTransport => ({
  lookUp: (gatewayId) => (links.find(gatewayId) ? undefined : remoteRelay?.lookUp(gatewayId)),
  takes: (gatewayId, provider, model) => {
    const link = links.find(gatewayId)
    if (!link) return remoteRelay?.takes(gatewayId, provider, model) === true
    return link.isOpen && link.capabilities?.serves(provider, model) === true
  },
  takesMedia: (gatewayId) => {
    const link = links.find(gatewayId)
    return link
      ? link.capabilities?.takesMedia === true
      : remoteRelay?.takesMedia(gatewayId) === true
  },
  send: (gatewayId: string, call: GatewayCall): Promise<Answer> =>
    links.find(gatewayId)?.request(call) ??
    remoteRelay?.request(gatewayId, call) ??
    Promise.reject(new GatewayLost(false, new Error('the gateway is not connected'))),
})

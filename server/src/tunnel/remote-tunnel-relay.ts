import { requestOf, toolCallOf } from './tunnel-request'
import { OutboundCalls } from './outbound-calls'
import type { Links } from './tunnel-connection'
import { Directory } from './directory'
import type { TunnelLocation } from './gateway-store'
import { readNodeMessage, version, type NodeMessage, type NodeMessageBody } from './node-messages'
import { Peers, type Party } from './peers'
import { RelayedAnswer } from './relayed-answer'
import { RelayedToolCall } from './relayed-tool-call'
import { InboundCalls } from './inbound-calls'
import type { NodeChannel } from '../platform/db/node-channel'
import { systemClock, type Clock } from '../platform/clock'
import type { AnnouncedTool } from '../platform/db/gateway-schema'
import { Periodic } from '../platform/periodic'
import type { Answer } from '../upstream/http/answer'
import { GatewayLost, type GatewayCall } from '../upstream/http/gateway-call'
import { ApiError } from '../errors'
import type { GatewayToolCall, GatewayToolResult } from '../wire/gateway-tool'

interface Ports {
  /** This process. */
  node: string
  /** The gateways whose sockets this node has. */
  links: Links
  rows: {
    findLocation: (gatewayId: string) => Promise<TunnelLocation | undefined>
    tools: (location: TunnelLocation) => Promise<AnnouncedTool[] | undefined>
  }
  /** Opens the channel between nodes. */
  open: (on: TunnelChannelEvents) => TunnelChannel
  clock?: Clock
}

/** The messages between nodes: over Redis, or between workers through their launcher. */
export type TunnelChannel = Pick<NodeChannel, keyof NodeChannel>

export type TunnelChannelEvents = Pick<
  ConstructorParameters<typeof NodeChannel>[0],
  'onMessage' | 'onGap'
>

/** The interval of heartbeats between nodes that have calls with each other. */
const heartbeatEveryMs = 5000
const checkEveryMs = 1000

/**
 * Relays calls to gateways whose sockets other nodes have, and calls of other nodes to those whose sockets are here.
 * Source: docs/contribute/tunnel.md, "Self-hosted gateways".
 */
export class RemoteTunnelRelay implements AsyncDisposable {
  readonly directory: Directory
  readonly #ports: Ports
  readonly #channel: TunnelChannel
  readonly #peers: Peers
  readonly #outbound: OutboundCalls
  readonly #served: InboundCalls
  readonly #upkeep: readonly Periodic[]

  constructor(ports: Ports) {
    this.#ports = ports
    const { clock = systemClock } = ports
    this.#peers = new Peers(clock)
    this.directory = new Directory(ports.rows.findLocation, clock)
    const channel = ports.open({
      onMessage: (text) => this.#onMessage(text),
      onGap: () => this.#peers.endAll(),
    })
    this.#channel = channel
    const sendTo = (to: Pick<Party, 'node' | 'markLost'>, content: NodeMessageBody) =>
      this.#sendTo(to, content)
    this.#outbound = new OutboundCalls({
      peers: this.#peers,
      sendTo,
      storePayload: (key, text) => channel.put(key, text),
      drop: (key) => channel.drop(key),
      directory: this.directory,
      clock,
    })
    this.#served = new InboundCalls({
      links: ports.links,
      peers: this.#peers,
      send: (to, content) => void sendTo(to, content),
      take: (key) => channel.take(key),
    })
    this.#upkeep = [
      new Periodic({ intervalMs: heartbeatEveryMs, run: () => this.#live(), clock }),
      new Periodic({ intervalMs: checkEveryMs, run: () => this.#peers.endSilent(), clock }),
    ]
  }

  /** Returns the numbers of calls that run between this node and others, and of those since its start. */
  figures() {
    const { size: activeCalls, total: totalCalls } = this.#outbound
    const { size: served, total: servedTotal } = this.#served
    return { activeCalls, served, totalCalls, servedTotal }
  }

  /** Looks a gateway up: undefined where `takes` knows it; else resolves once it does. Never rejects. */
  lookUp(gatewayId: string): Promise<void> | undefined {
    return this.#channel.isOpen ? this.directory.lookUp(gatewayId) : undefined
  }

  takes(gatewayId: string, provider: string, model: string): boolean {
    return this.#locationOf(gatewayId)?.serves(provider, model) === true
  }

  takesMedia(gatewayId: string): boolean {
    return this.#locationOf(gatewayId)?.takesMedia === true
  }

  /** As `TunnelConnection.request`. */
  async request(gatewayId: string, call: GatewayCall): Promise<Answer> {
    const { stop, content, sent } = call
    if (stop.aborted) throw stop.reason
    const location = this.#locationOf(gatewayId)
    if (!location) throw new GatewayLost(false, new Error('the gateway is not connected'))
    const tunnelRequest = requestOf(call)
    return this.#outbound.start(
      { request: tunnelRequest, location, sent: content ? undefined : sent },
      (id) => new RelayedAnswer(this.#outbound, { id, call }),
    ).head
  }

  /** As `TunnelConnection.callTool`. */
  async callTool(gatewayId: string, call: GatewayToolCall): Promise<GatewayToolResult> {
    const { signal } = call
    signal.throwIfAborted()
    await this.lookUp(gatewayId)
    const location = this.#locationOf(gatewayId)
    if (!location) throw new ApiError('gateway_unavailable')
    const tunnelRequest = toolCallOf(call)
    return this.#outbound.start(
      { request: tunnelRequest, location, sent: undefined },
      (id) => new RelayedToolCall(this.#outbound, { id, signal }),
    ).outcome
  }

  /**
   * Returns the tools of a gateway; undefined where it cannot be reached. Rejects when the database does not answer.
   */
  async toolsOf(gatewayId: string): Promise<AnnouncedTool[] | undefined> {
    await this.lookUp(gatewayId)
    const location = this.#locationOf(gatewayId)
    return location && this.#ports.rows.tools(location)
  }

  #locationOf(gatewayId: string): TunnelLocation | undefined {
    const location = this.#channel.isOpen ? this.directory.cached(gatewayId) : undefined
    // A gateway that is registered on this node but has no socket here is still connecting.
    return location?.node === this.#ports.node ? undefined : location
  }

  async #sendTo(to: Pick<Party, 'node' | 'markLost'>, content: NodeMessageBody): Promise<void> {
    const { epoch } = this.#channel
    const text = JSON.stringify({ v: version, from: this.#ports.node, epoch, ...content })
    if (!(await this.#channel.publish(to.node, text))) to.markLost()
  }

  #onMessage(text: string): void {
    const message = readNodeMessage(text)
    if (!message) return
    this.#peers.recordMessage(message.from, message.epoch)
    this.#dispatch(message)
  }

  #dispatch(message: NodeMessage): void {
    switch (message.type) {
      case 'alive':
        return
      case 'open':
        return this.#served.open(message)
      case 'go':
        return void this.#served.go(message)
      case 'window':
        return this.#served.window(message)
      case 'content':
        return this.#served.content(message)
      case 'cancel':
        return this.#served.cancel(message)
      default:
        return this.#outbound.onMessage(message)
    }
  }

  #live(): void {
    for (const node of this.#peers.nodes) {
      void this.#sendTo({ node, markLost: () => this.#peers.markLost(node) }, { type: 'alive' })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const periodic of this.#upkeep) periodic.stop()
    this.#peers.endAll()
    await this.#channel[Symbol.asyncDispose]()
  }
}

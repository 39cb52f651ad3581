import { requestOf, toolCallOf } from './tunnel-request'
import { OutboundCalls } from './outbound-calls'
import type { Links } from './local-tunnels'
import { Directory } from './directory'
import type { TunnelLocation } from './gateway-store'
import { readNodeMessage, version, type NodeMessage, type NodeMessageBody } from './node-messages'
import { Peers, type Party } from './peers'
import { RelayedAnswer } from './relayed-answer'
import { RelayedToolCall, type ToolAsked, type ToolOutcome } from './relayed-tool-call'
import { InboundCalls } from './inbound-calls'
import type { NodeChannel } from '../platform/db/node-channel'
import type { AnnouncedTool } from '../platform/db/gateway-schema'
import type { Answer } from '../upstream/http/answer'
import { GatewayLost, type GatewayCall } from '../upstream/http/gateway-call'
import { ApiError } from '../errors'

interface Ports {
  /** This process. */
  node: string
  /** The gateways whose sockets this node has. */
  links: Links
  rows: {
    place: (gatewayId: string) => Promise<TunnelLocation | undefined>
    tools: (place: TunnelLocation) => Promise<AnnouncedTool[] | undefined>
  }
  /** Opens the channel between nodes. */
  open: (on: Pick<ConstructorParameters<typeof NodeChannel>[0], 'heard' | 'onGap'>) => Channel
}

/** The part of the channel that is used. */
type Channel = Pick<NodeChannel, keyof NodeChannel>

/** The interval of heartbeats between nodes that have calls with each other. */
const wordEveryMs = 5000
const lookEveryMs = 1000

/** Numbers of calls that run between this node and others. */
export interface ElsewhereFigures {
  asked: number
  served: number
  askedTotal: number
  servedTotal: number
}

/**
 * Relays calls to gateways whose sockets other nodes have, and calls of other nodes to those whose sockets are here.
 * Source: docs/architecture.md, "Self-hosted gateways".
 */
export class RemoteTunnelRelay implements AsyncDisposable {
  readonly directory: Directory
  readonly #ports: Ports
  readonly #channel: Channel
  readonly #peers = new Peers()
  readonly #asked: OutboundCalls
  readonly #served: InboundCalls
  readonly #timers: ReturnType<typeof setInterval>[]

  constructor(ports: Ports) {
    this.#ports = ports
    this.directory = new Directory(ports.rows.place)
    const channel = ports.open({
      heard: (text) => this.#heard(text),
      onGap: () => this.#peers.endAll(),
    })
    this.#channel = channel
    const say = (to: Pick<Party, 'node' | 'gone'>, content: NodeMessageBody) =>
      this.#say(to, content)
    this.#asked = new OutboundCalls({
      peers: this.#peers,
      say,
      put: (key, text) => channel.put(key, text),
      drop: (key) => channel.drop(key),
      directory: this.directory,
    })
    this.#served = new InboundCalls({
      links: ports.links,
      peers: this.#peers,
      say: (to, content) => void say(to, content),
      take: (key) => channel.take(key),
    })
    this.#timers = [
      setInterval(() => this.#live(), wordEveryMs),
      setInterval(() => this.#peers.endSilent(performance.now()), lookEveryMs),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  figures(): ElsewhereFigures {
    const { size: asked, total: askedTotal } = this.#asked
    const { size: served, total: servedTotal } = this.#served
    return { asked, served, askedTotal, servedTotal }
  }

  /** Looks a gateway up: undefined where `takes` knows it; else resolves once it does. Never rejects. */
  look(gatewayId: string): Promise<void> | undefined {
    return this.#channel.isOpen ? this.directory.look(gatewayId) : undefined
  }

  takes(gatewayId: string, provider: string, model: string): boolean {
    return this.#placeOf(gatewayId)?.serves(provider, model) === true
  }

  /** As `TunnelConnection.request`. */
  async request(gatewayId: string, call: GatewayCall): Promise<Answer> {
    const { stop, isStream, sent } = call
    if (stop.aborted) throw stop.reason
    const place = this.#placeOf(gatewayId)
    if (!place) throw new GatewayLost(false, new Error('the gateway is not connected'))
    const asked = requestOf(call)
    return this.#asked.start(
      { asked, place, sent },
      (id) => new RelayedAnswer(this.#asked, { id, isStream, stop }),
    ).head
  }

  /** As `TunnelConnection.callTool`. */
  async callTool(gatewayId: string, call: ToolAsked): Promise<ToolOutcome> {
    const { signal } = call
    signal.throwIfAborted()
    await this.look(gatewayId)
    const place = this.#placeOf(gatewayId)
    if (!place) throw new ApiError('gateway_unavailable')
    const asked = toolCallOf(call)
    return this.#asked.start(
      { asked, place, sent: undefined },
      (id) => new RelayedToolCall(this.#asked, { id, signal }),
    ).outcome
  }

  /**
   * Returns the tools of a gateway; undefined where it cannot be reached. Rejects when the database does not answer.
   */
  async toolsOf(gatewayId: string): Promise<AnnouncedTool[] | undefined> {
    await this.look(gatewayId)
    const place = this.#placeOf(gatewayId)
    return place && this.#ports.rows.tools(place)
  }

  #placeOf(gatewayId: string): TunnelLocation | undefined {
    const place = this.#channel.isOpen ? this.directory.known(gatewayId) : undefined
    // A gateway that is registered on this node but has no socket here is still connecting.
    return place?.node === this.#ports.node ? undefined : place
  }

  async #say(to: Pick<Party, 'node' | 'gone'>, content: NodeMessageBody): Promise<void> {
    const { epoch } = this.#channel
    const text = JSON.stringify({ v: version, from: this.#ports.node, epoch, ...content })
    if (!(await this.#channel.say(to.node, text))) to.gone()
  }

  #heard(text: string): void {
    const message = readNodeMessage(text)
    if (!message) return
    this.#peers.heard(message.from, message.epoch)
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
      case 'cancel':
        return this.#served.cancel(message)
      default:
        return this.#asked.heard(message)
    }
  }

  #live(): void {
    for (const node of this.#peers.nodes) {
      void this.#say({ node, gone: () => this.#peers.gone(node) }, { type: 'alive' })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#peers.endAll()
    await this.#channel[Symbol.asyncDispose]()
  }
}

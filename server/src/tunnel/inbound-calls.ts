import type { Links, TunnelConnection } from './tunnel-connection'
import type { NodeMessageKind, NodeMessageBody } from './node-messages'
import type { Party, Peers } from './peers'
import { ServedCall } from './served-call'
import { needsMedia } from './tunnel-request'

interface Ports {
  /** The gateways whose sockets this node has. */
  links: Links
  peers: Peers
  send: (to: Pick<Party, 'node' | 'markLost'>, content: NodeMessageBody) => void
  /** Takes a payload that another node stored; undefined where it no longer exists. */
  take: (key: string) => Promise<string | undefined>
}

/** Runs the calls of other nodes to gateways whose sockets this node has. */
export class InboundCalls {
  readonly #ports: Ports
  readonly #calls = new Map<string, ServedCall>()
  /** Since the start. */
  total = 0

  constructor(ports: Ports) {
    this.#ports = ports
  }

  get size(): number {
    return this.#calls.size
  }

  /**
   * Accepts a call on the terms of a local request: the gateway is attached by that very socket, and takes requests.
   */
  open(openMessage: NodeMessageKind<'open'>): void {
    const { call, from } = openMessage
    const { peers, send } = this.#ports
    const key = keyOf(openMessage)
    const link = this.#linkFor(openMessage)
    if (!link || this.#calls.has(key)) {
      return send({ node: from, markLost: () => undefined }, { type: 'refused', call })
    }
    const served = new ServedCall(openMessage, link, {
      send,
      onFinish: (party) => {
        this.#calls.delete(key)
        peers.remove(party)
      },
    })
    this.total += 1
    this.#calls.set(key, served)
    peers.add(served)
    send(served, { type: 'accepted', call })
  }

  async go(message: NodeMessageKind<'go'>): Promise<void> {
    const served = this.#callOf(message)
    const { payload, key } = message
    if (!served) return
    served.start(key === undefined ? payload : await this.#ports.take(key))
  }

  content(message: NodeMessageKind<'content'>): void {
    this.#callOf(message)?.content(message.data)
  }

  window(message: NodeMessageKind<'window'>): void {
    this.#callOf(message)?.grant(message.bytes)
  }

  cancel(message: NodeMessageKind<'cancel'>): void {
    this.#callOf(message)?.cancel()
  }

  #callOf(message: Pick<NodeMessageKind<'go'>, 'from' | 'call'>): ServedCall | undefined {
    return this.#calls.get(keyOf(message))
  }

  #linkFor({ gateway, socket, head }: NodeMessageKind<'open'>): TunnelConnection | undefined {
    const link = this.#ports.links.find(gateway)
    if (link?.socketId !== socket || !link.isOpen) return undefined
    if (head.type !== 'request') return link
    const { capabilities } = link
    const isServed = capabilities?.serves(head.provider, head.model) === true
    return isServed && (capabilities.takesMedia || !needsMedia(head)) ? link : undefined
  }
}

/** The caller is part of the key, as nodes choose the ids of calls themselves. */
const keyOf = ({ from, call }: Pick<NodeMessageKind<'go'>, 'from' | 'call'>) => `${from} ${call}`

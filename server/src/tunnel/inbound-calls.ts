import type { Links } from './local-tunnels'
import type { TunnelConnection } from './tunnel-connection'
import type { NodeMessageKind, NodeMessageBody } from './node-messages'
import type { Party, Peers } from './peers'
import { ServedCall } from './served-call'

interface Ports {
  /** The gateways whose sockets this node has. */
  links: Links
  peers: Peers
  say: (to: Pick<Party, 'node' | 'gone'>, content: NodeMessageBody) => void
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
  open(asked: NodeMessageKind<'open'>): void {
    const { call, from } = asked
    const { peers, say } = this.#ports
    const key = keyOf(asked)
    const link = this.#linkFor(asked)
    if (!link || this.#calls.has(key)) {
      return say({ node: from, gone: () => undefined }, { type: 'refused', call })
    }
    const served = new ServedCall(asked, link, {
      say,
      over: (party) => {
        this.#calls.delete(key)
        peers.remove(party)
      },
    })
    this.total += 1
    this.#calls.set(key, served)
    peers.add(served)
    say(served, { type: 'accepted', call })
  }

  async go(message: NodeMessageKind<'go'>): Promise<void> {
    const served = this.#of(message)
    const { payload, key } = message
    if (!served) return
    served.start(key === undefined ? payload : await this.#ports.take(key))
  }

  window(message: NodeMessageKind<'window'>): void {
    this.#of(message)?.grant(message.bytes)
  }

  cancel(message: NodeMessageKind<'cancel'>): void {
    this.#of(message)?.cancel()
  }

  #of(message: Pick<NodeMessageKind<'go'>, 'from' | 'call'>): ServedCall | undefined {
    return this.#calls.get(keyOf(message))
  }

  #linkFor({ gateway, socket, head }: NodeMessageKind<'open'>): TunnelConnection | undefined {
    const link = this.#ports.links.find(gateway)
    if (link?.socketId !== socket || !link.isOpen) return undefined
    const isServed = head.type !== 'request' || link.announced?.serves(head.provider, head.model)
    return isServed === true ? link : undefined
  }
}

/** The caller is part of the key, as nodes choose the ids of calls themselves. */
const keyOf = ({ from, call }: Pick<NodeMessageKind<'go'>, 'from' | 'call'>) => `${from} ${call}`

import type { Clock } from '../platform/clock'

/** One half of a call that runs over two nodes. */
export interface Party {
  /** The other node. */
  readonly node: string
  /** Since when the other node has missed no message; undefined until its first message for this call. */
  epoch: string | undefined
  /** Called when the other node is gone, or may have missed a message. Calling it twice is harmless. */
  markLost: () => void
}

interface Peer {
  epoch: string | undefined
  lastMessageAtMs: number
  parties: Set<Party>
}

/** After this time without a message a node is presumed dead. */
const silenceMs = 15_000

/** The nodes with which calls run, and the time of their last messages. */
export class Peers {
  readonly #clock: Clock
  readonly #peers = new Map<string, Peer>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get nodes(): string[] {
    return [...this.#peers.keys()]
  }

  add(party: Party): void {
    const { node, epoch } = party
    const peer = this.#peers.get(node)
    if (peer) peer.parties.add(party)
    else {
      const lastMessageAtMs = this.#clock.monotonicMs()
      this.#peers.set(node, { epoch, lastMessageAtMs, parties: new Set([party]) })
    }
  }

  remove(party: Party): void {
    const peer = this.#peers.get(party.node)
    if (!peer?.parties.delete(party)) return
    if (peer.parties.size === 0) this.#peers.delete(party.node)
  }

  /** Records a message of a node. Its calls from before a gap of its own end. */
  recordMessage(node: string, epoch: string): void {
    const peer = this.#peers.get(node)
    if (!peer) return
    peer.lastMessageAtMs = this.#clock.monotonicMs()
    if (peer.epoch === epoch) return
    peer.epoch = epoch
    for (const party of peer.parties) {
      if (party.epoch !== undefined && party.epoch !== epoch) party.markLost()
    }
  }

  /** Ends the calls of a node that no longer receives messages. */
  markLost(node: string): void {
    this.#peers.get(node)?.parties.forEach((party) => party.markLost())
  }

  /** Ends calls with nodes that have been silent too long. */
  endSilent(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [node, { lastMessageAtMs }] of this.#peers) {
      if (nowMs - lastMessageAtMs > silenceMs) this.markLost(node)
    }
  }

  /** Ends the calls with all nodes, as this one may have missed messages of any. */
  endAll(): void {
    for (const node of this.nodes) this.markLost(node)
  }
}

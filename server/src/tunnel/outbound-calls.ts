import type { TunnelRequest } from './tunnel-request'
import type { Directory } from './directory'
import type { ToGateway } from './frames'
import type { TunnelLocation } from './gateway-store'
import { pass, type TunnelCall } from './tunnel-connection'
import type { NodeMessage, NodeMessageKind, NodeMessageBody } from './node-messages'
import type { Party, Peers } from './peers'
import { ProtocolError } from './read-frame'
import type { AnswerTransport } from './relayed-answer'
import { generateIdBody } from '../db/id'

interface Ports {
  peers: Peers
  say: (to: Pick<Party, 'node' | 'gone'>, content: NodeMessageBody) => Promise<void>
  put: (key: string, text: string) => Promise<boolean>
  drop: (key: string) => void
  /** A gateway was not reached where it is said to be, or does not take what was asked of it. */
  directory: Pick<Directory, 'missed' | 'refused'>
}

/** A call whose end is told as that of any other. `lost(false)`: nothing of it was sent to its gateway. */
interface Waiting extends TunnelCall {
  lost: (isSent?: boolean) => void
}

interface Call extends Party {
  id: string
  place: TunnelLocation
  waiting: Waiting
  /** From here on the gateway may have seen it. */
  isSent: boolean
  timer: ReturnType<typeof setTimeout>
  /** Until the other node has accepted it. */
  payload: string | undefined
  /** Characters of it in Redis, by the call's id. */
  putAside: number
  sent: { release: () => void } | undefined
}

/** How long the other node may take to say that it takes a call. */
const acceptMs = 2000
/** Payloads up to so many characters go along with what is said; others are put aside. */
const shortPayload = 64 * 1024
/** What all payloads of this node may have in Redis, in characters. */
const mostPutAside = 64 * 1024 * 1024

/** What this node asks of gateways whose sockets other nodes have. */
export class OutboundCalls implements AnswerTransport {
  readonly #ports: Ports
  readonly #calls = new Map<string, Call>()
  #putAside = 0
  /** Since the start. */
  total = 0

  constructor(ports: Ports) {
    this.#ports = ports
  }

  get size(): number {
    return this.#calls.size
  }

  /** Asks the node of a gateway. Nothing is sent to the gateway before that node has accepted it. */
  start<Asking extends Waiting>(
    { asked, place, sent }: Pick<Call, 'place' | 'sent'> & { asked: TunnelRequest },
    waiting: (id: string) => Asking,
  ): Asking {
    const id = generateIdBody()
    const started = waiting(id)
    const { node } = place
    const { head, payload } = asked
    const call: Call = {
      id,
      place,
      sent,
      node,
      payload,
      waiting: started,
      epoch: undefined,
      isSent: false,
      putAside: 0,
      timer: setTimeout(() => this.#notReached(call), acceptMs),
      gone: () => (call.isSent ? this.#giveUp(call) : this.#notReached(call)),
    }
    this.total += 1
    this.#calls.set(id, call)
    this.#ports.peers.add(call)
    const { gateway, socket } = place
    void this.#ports.say(call, { type: 'open', call: id, gateway, socket, head })
    return started
  }

  /** What a call says to its gateway: of `Line`. */
  send(frame: ToGateway): void {
    const call = this.#calls.get(frame.id)
    if (!call) return
    const { id } = call
    if (frame.type === 'cancel') void this.#ports.say(call, { type: 'cancel', call: id })
    if (frame.type !== 'window') return
    void this.#ports.say(call, { type: 'window', call: id, bytes: frame.bytes })
  }

  over(id: string): void {
    const call = this.#calls.get(id)
    if (!call) return
    this.#calls.delete(id)
    clearTimeout(call.timer)
    this.#ports.peers.remove(call)
    if (call.putAside > 0) this.#ports.drop(id)
    this.#taken(call)
  }

  /** What the other node says of a call. */
  heard(message: NodeMessage): void {
    const call = 'call' in message ? this.#calls.get(message.call) : undefined
    if (call?.node !== message.from) return
    call.epoch = message.epoch
    switch (message.type) {
      case 'accepted':
        return void this.#go(call)
      case 'refused':
        this.#ports.directory.refused(call.place)
        // It says so itself, also of what it had accepted.
        return call.waiting.lost(false)
      case 'taken':
        return this.#taken(call)
      case 'frame':
        return this.#frame(call, message)
      case 'lost':
        return call.waiting.lost(true)
      default:
    }
  }

  async #go(call: Call): Promise<void> {
    const { id, payload } = call
    if (payload === undefined) return
    clearTimeout(call.timer)
    // For as long as an answer takes, nobody needs it here.
    call.payload = undefined
    if (payload.length <= shortPayload) {
      call.isSent = true
      await this.#ports.say(call, { type: 'go', call: id, payload })
      return
    }
    const isKept = await this.#putPayload(call, payload)
    // It may have ended meanwhile.
    if (!this.#calls.has(id)) return this.#ports.drop(id)
    if (!isKept) return this.#giveUp(call)
    call.isSent = true
    await this.#ports.say(call, { type: 'go', call: id, key: id })
  }

  async #putPayload(call: Call, payload: string): Promise<boolean> {
    if (this.#putAside + payload.length > mostPutAside) return false
    this.#putAside += payload.length
    call.putAside = payload.length
    return this.#ports.put(call.id, payload)
  }

  /** Its payload is in this process and in Redis no more. */
  #taken(call: Call): void {
    this.#putAside -= call.putAside
    call.putAside = 0
    call.sent?.release()
    call.sent = undefined
  }

  #frame(call: Call, { frame }: NodeMessageKind<'frame'>): void {
    try {
      pass(frame, call.waiting)
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) throw thrown
      this.#giveUp(call)
    }
  }

  #notReached(call: Call): void {
    this.#ports.directory.missed(call.place)
    this.#giveUp(call)
  }

  /** It is lost, and what the other node may still hear of it is undone. */
  #giveUp({ id, isSent, waiting }: Call): void {
    this.send({ type: 'cancel', id })
    waiting.lost(isSent)
  }
}

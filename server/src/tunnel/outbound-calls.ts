import type { TunnelRequest } from './tunnel-request'
import type { Directory } from './directory'
import type { ToGateway } from './frames'
import type { TunnelLocation } from './gateway-store'
import { pass, type TunnelCall } from './tunnel-connection'
import type { NodeMessage, NodeMessageKind, NodeMessageBody } from './node-messages'
import type { Party, Peers } from './peers'
import { ProtocolError } from './read-frame'
import type { AnswerTransport } from './relayed-answer'
import { generateIdBody } from '../platform/db/id'

interface Ports {
  peers: Peers
  say: (to: Pick<Party, 'node' | 'gone'>, content: NodeMessageBody) => Promise<void>
  put: (key: string, text: string) => Promise<boolean>
  drop: (key: string) => void
  /** Records gateways that were not reached at their location, or refused a call. */
  directory: Pick<Directory, 'missed' | 'refused'>
}

/** A call that ends as a local one does. `lost(false)`: nothing of it was sent to its gateway. */
interface Waiting extends TunnelCall {
  lost: (isSent?: boolean) => void
}

interface Call extends Party {
  id: string
  place: TunnelLocation
  waiting: Waiting
  /** Once set, the gateway may have received the call. */
  isSent: boolean
  timer: ReturnType<typeof setTimeout>
  /** Held until the other node has accepted it. */
  payload: string | undefined
  /** The length of the payload in Redis, in characters; its key is the call's id. */
  putAside: number
  sent: { release: () => void } | undefined
}

/** The maximum wait for the other node to accept a call. */
const acceptMs = 2000
/** The maximum length, in characters, of a payload that is sent inside a message; longer ones are stored in Redis. */
const shortPayload = 64 * 1024
/** The maximum of all payloads of this node in Redis, in characters. */
const mostPutAside = 64 * 1024 * 1024

/** Runs this node's calls to gateways whose sockets other nodes have. */
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

  /** Sends a call to the gateway's node. Nothing reaches the gateway before that node has accepted the call. */
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

  /** Sends a frame of a call to its gateway, as `AnswerTransport` requires. */
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

  /** Handles another node's message about a call. */
  heard(message: NodeMessage): void {
    const call = 'call' in message ? this.#calls.get(message.call) : undefined
    if (call?.node !== message.from) return
    call.epoch = message.epoch
    switch (message.type) {
      case 'accepted':
        return void this.#go(call)
      case 'refused':
        this.#ports.directory.refused(call.place)
        // The other node states this itself, also of a call that it had accepted.
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
    // While the answer arrives, the payload is no longer needed here.
    call.payload = undefined
    if (payload.length <= shortPayload) {
      call.isSent = true
      await this.#ports.say(call, { type: 'go', call: id, payload })
      return
    }
    const isKept = await this.#putPayload(call, payload)
    // The call may have ended meanwhile.
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

  /** Releases the call's payload, which is no longer in this process or in Redis. */
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

  /** Ends a call as lost, and revokes it at the other node. */
  #giveUp({ id, isSent, waiting }: Call): void {
    this.send({ type: 'cancel', id })
    waiting.lost(isSent)
  }
}

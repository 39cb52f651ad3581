import type { TunnelRequest } from './tunnel-request'
import type { Directory } from './directory'
import type { ToGateway } from './frames'
import type { TunnelLocation } from './gateway-store'
import { dispatchFrame, type TunnelCall } from './tunnel-connection'
import type { NodeMessage, NodeMessageKind, NodeMessageBody } from './node-messages'
import type { Party, Peers } from './peers'
import { ProtocolError } from './read-frame'
import type { AnswerTransport } from './relayed-answer'
import type { Clock, Timer } from '../platform/clock'
import { generateIdBody } from '../platform/db/id'

interface Ports {
  peers: Peers
  sendTo: (to: Pick<Party, 'node' | 'markLost'>, content: NodeMessageBody) => Promise<void>
  storePayload: (key: string, text: string) => Promise<boolean>
  drop: (key: string) => void
  /** Records gateways that were not reached at their location, or refused a call. */
  directory: Pick<Directory, 'markUnreachable' | 'markRefused'>
  clock: Clock
}

/** A call that ends as a local one does. `lost(false)`: nothing of it was sent to its gateway. */
interface Waiting extends TunnelCall {
  lost: (isSent?: boolean) => void
}

interface Call extends Party {
  id: string
  location: TunnelLocation
  waiting: Waiting
  /** Once set, the gateway may have received the call. */
  isSent: boolean
  timer: Timer
  /** Held until the other node has accepted it. */
  payload: string | undefined
  /** The length of the payload in Redis, in characters; its key is the call's id. */
  storedCharacters: number
  sent: { release: () => void } | undefined
}

/** The maximum wait for the other node to accept a call. */
const acceptMs = 2000
/** The maximum length, in characters, of a payload that is sent inside a message; longer ones are stored in Redis. */
const shortPayload = 64 * 1024
/** The maximum of all payloads of this node in Redis, in characters. */
const maxStoredPayloads = 64 * 1024 * 1024

/** Runs this node's calls to gateways whose sockets other nodes have. */
export class OutboundCalls implements AnswerTransport {
  readonly #ports: Ports
  readonly #calls = new Map<string, Call>()
  #storedCharacters = 0
  /** Since the start. */
  total = 0

  constructor(ports: Ports) {
    this.#ports = ports
  }

  get size(): number {
    return this.#calls.size
  }

  /** Sends a call to the gateway's node. Nothing reaches the gateway before that node has accepted the call. */
  start<WaitingCall extends Waiting>(
    { request, location, sent }: Pick<Call, 'location' | 'sent'> & { request: TunnelRequest },
    waiting: (id: string) => WaitingCall,
  ): WaitingCall {
    const id = generateIdBody()
    const started = waiting(id)
    const { node } = location
    const { head, payload } = request
    const call: Call = {
      id,
      location,
      sent,
      node,
      payload,
      waiting: started,
      epoch: undefined,
      isSent: false,
      storedCharacters: 0,
      timer: this.#ports.clock.after(acceptMs, () => this.#onUnreachable(call)),
      markLost: () => (call.isSent ? this.#onLost(call) : this.#onUnreachable(call)),
    }
    this.total += 1
    this.#calls.set(id, call)
    this.#ports.peers.add(call)
    const { gateway, socket } = location
    void this.#ports.sendTo(call, { type: 'open', call: id, gateway, socket, head })
    return started
  }

  /** Sends a frame of a call to its gateway, as `AnswerTransport` requires. */
  send(frame: ToGateway): void {
    const call = this.#calls.get(frame.id)
    if (!call) return
    const { id } = call
    if (frame.type === 'cancel') void this.#ports.sendTo(call, { type: 'cancel', call: id })
    if (frame.type !== 'window') return
    void this.#ports.sendTo(call, { type: 'window', call: id, bytes: frame.bytes })
  }

  /** As `AnswerTransport` requires: there is room once the other node has the piece. */
  async sendContent(id: string, data: string): Promise<void> {
    const call = this.#calls.get(id)
    if (call) await this.#ports.sendTo(call, { type: 'content', call: id, data })
  }

  /** Releases an observer at once: what was sent is no longer in this process. */
  observeSent({ release }: { release: () => void }): void {
    release()
  }

  finish(id: string): void {
    const call = this.#calls.get(id)
    if (!call) return
    this.#calls.delete(id)
    call.timer[Symbol.dispose]()
    this.#ports.peers.remove(call)
    if (call.storedCharacters > 0) this.#ports.drop(id)
    this.#onAccepted(call)
  }

  /** Handles another node's message about a call. */
  onMessage(message: NodeMessage): void {
    const call = 'call' in message ? this.#calls.get(message.call) : undefined
    if (call?.node !== message.from) return
    call.epoch = message.epoch
    switch (message.type) {
      case 'accepted':
        return void this.#sendPayload(call)
      case 'refused':
        this.#ports.directory.markRefused(call.location)
        // The other node states this itself, also of a call that it had accepted.
        return call.waiting.lost(false)
      case 'taken':
        return this.#onAccepted(call)
      case 'frame':
        return this.#deliverFrame(call, message)
      case 'lost':
        return call.waiting.lost(true)
      default:
    }
  }

  async #sendPayload(call: Call): Promise<void> {
    const { id, payload } = call
    if (payload === undefined) return
    call.timer[Symbol.dispose]()
    // While the answer arrives, the payload is no longer needed here.
    call.payload = undefined
    if (payload.length <= shortPayload) {
      call.isSent = true
      await this.#ports.sendTo(call, { type: 'go', call: id, payload })
      call.waiting.onSent?.()
      return
    }
    const isStored = await this.#storePayload(call, payload)
    // The call may have ended meanwhile.
    if (!this.#calls.has(id)) return this.#ports.drop(id)
    if (!isStored) return this.#onLost(call)
    call.isSent = true
    await this.#ports.sendTo(call, { type: 'go', call: id, key: id })
  }

  async #storePayload(call: Call, payload: string): Promise<boolean> {
    if (this.#storedCharacters + payload.length > maxStoredPayloads) return false
    this.#storedCharacters += payload.length
    call.storedCharacters = payload.length
    return this.#ports.storePayload(call.id, payload)
  }

  /** Releases the call's payload, which is no longer in this process or in Redis. */
  #onAccepted(call: Call): void {
    this.#storedCharacters -= call.storedCharacters
    call.storedCharacters = 0
    call.sent?.release()
    call.sent = undefined
  }

  #deliverFrame(call: Call, { frame }: NodeMessageKind<'frame'>): void {
    try {
      dispatchFrame(frame, call.waiting)
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) throw thrown
      this.#onLost(call)
    }
  }

  #onUnreachable(call: Call): void {
    this.#ports.directory.markUnreachable(call.location)
    this.#onLost(call)
  }

  /** Ends a call as lost, and revokes it at the other node. */
  #onLost({ id, isSent, waiting }: Call): void {
    this.send({ type: 'cancel', id })
    waiting.lost(isSent)
  }
}

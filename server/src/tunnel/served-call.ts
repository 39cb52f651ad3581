import type { TunnelRequestHead } from './tunnel-request'
import { bounds, type GatewayFrame } from './frames'
import { InboundWindow } from './inbound-bounds'
import type { TunnelConnection, TunnelCall } from './tunnel-connection'
import type { AnswerFrame, NodeMessageKind, NodeMessageBody } from './node-messages'
import type { Party } from './peers'
import { ProtocolError } from './read-frame'

interface Ports {
  /** Sends a message to the calling node. */
  send: (party: ServedCall, content: NodeMessageBody) => void
  onFinish: (party: ServedCall) => void
}

/** Whether a payload can be put into a frame unchanged. */
const isPayload = (text: string | undefined): text is string =>
  text?.startsWith('{') === true && text.length <= bounds.sentBytes

/**
 * A call of another node to a gateway whose socket is here: frames pass through, none is stored. The calling node
 * manages the window.
 */
export class ServedCall implements TunnelCall, Party {
  readonly call: string
  readonly node: string
  readonly epoch: string
  readonly #link: TunnelConnection
  readonly #head: TunnelRequestHead
  readonly #ports: Ports
  readonly #inboundWindow = new InboundWindow()
  /** The call's id on the socket; undefined until it is sent. */
  #id: string | undefined
  #isOver = false

  constructor(
    { call, from, epoch, head }: NodeMessageKind<'open'>,
    link: TunnelConnection,
    ports: Ports,
  ) {
    this.call = call
    this.node = from
    this.epoch = epoch
    this.#head = head
    this.#link = link
    this.#ports = ports
  }

  /** Starts the call with its payload; undefined where the payload no longer exists. */
  start(payload: string | undefined): void {
    if (this.#isOver || this.#id !== undefined) return
    if (!isPayload(payload) || !this.#link.isOpen) return this.#end({ type: 'refused' })
    this.#ports.send(this, { type: 'taken', call: this.call })
    this.#link.start({ head: this.#head, payload }, (id) => {
      this.#id = id
      return this
    })
  }

  /** Grants the bytes that the other node has read. */
  grant(bytes: number): void {
    if (this.#id === undefined || this.#isOver) return
    this.#inboundWindow.grant(bytes)
    this.#link.send({ type: 'window', id: this.#id, bytes })
  }

  /** Sends a piece of the request's content, within the window that the gateway has granted to the other node. */
  content(data: string): void {
    if (this.#id !== undefined && !this.#isOver) void this.#link.sendContent(this.#id, data)
  }

  /** Ends the call as its node is gone, and informs that node in case it only seems to be. */
  markLost(): void {
    if (this.#isOver) return
    this.cancel()
    this.#ports.send(this, { type: 'lost', call: this.call })
  }

  /** Cancels the call at the gateway, as its caller no longer waits. */
  cancel(): void {
    if (this.#isOver) return
    if (this.#id !== undefined) this.#link.send({ type: 'cancel', id: this.#id })
    this.#finish(true)
  }

  chunk(frame: GatewayFrame<'chunk'>): void {
    this.#assertType('request')
    this.#inboundWindow.chunk(Buffer.byteLength(frame.data, frame.encoding))
    this.#forward(frame)
  }

  response(frame: GatewayFrame<'response'>): void {
    this.#assertType('request')
    this.#inboundWindow.response(frame)
    this.#forwardLast(frame)
  }

  window(frame: GatewayFrame<'window'>): void {
    this.#assertType('request')
    this.#forward(frame)
  }

  failed(frame: GatewayFrame<'error'>): void {
    this.#forwardLast(frame)
  }

  result(frame: GatewayFrame<'tool_result'>): void {
    this.#assertType('tool_call')
    this.#forwardLast(frame)
  }

  lost(): void {
    this.#end({ type: 'lost' })
  }

  #assertType(type: TunnelRequestHead['type']): void {
    if (this.#head.type !== type) throw new ProtocolError('The frame does not match the request.')
  }

  #forward(frame: AnswerFrame): void {
    this.#ports.send(this, { type: 'frame', call: this.call, frame })
  }

  #forwardLast(frame: AnswerFrame): void {
    this.#forward(frame)
    this.#finish(false)
  }

  #end({ type }: { type: 'refused' | 'lost' }): void {
    if (this.#isOver) return
    this.#ports.send(this, { type, call: this.call })
    this.#finish(false)
  }

  #finish(isCut: boolean): void {
    this.#isOver = true
    if (this.#id !== undefined) this.#link.finish(this.#id, isCut)
    this.#ports.onFinish(this)
  }
}

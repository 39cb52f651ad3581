import {
  bounds,
  type FromGateway,
  type ToGateway,
  type GatewayFailure,
  forwardedHeaders,
} from './frames'
import { ContentUpload } from './content-upload'
import { InboundWindow } from './inbound-bounds'
import { ProtocolError } from './read-frame'
import { HeldBytes } from '../upstream/http/held-bytes'
import { readText, type Answer } from '../upstream/http/answer'
import { ConnectionFailed } from '../upstream/http/connection-failed'
import { GatewayLost, type GatewayCall } from '../upstream/http/gateway-call'
import type { StopListener } from '../upstream/http/stop-signal'
import { ApiError } from '../errors'

/** The part of a socket that an answer uses. */
export interface AnswerTransport {
  send: (frame: ToGateway) => void
  /** Called at the end of the call; `isCut`: Tollgate ended it, and the gateway may not know that yet. */
  finish: (id: string, isCut: boolean) => void
  /** Sends a piece of a request's content. Resolves once there is room for another one. */
  sendContent: (id: string, data: string) => Promise<void>
  /** Releases an observer once all that was sent so far has left this process. */
  observeSent: (observer: { release: () => void }) => void
}

interface AnswerOptions {
  id: string
  call: Pick<GatewayCall, 'isStream' | 'isBinary' | 'stop' | 'content' | 'sent'>
}

/** The bytes read after which as many are granted again. */
const grantBytes = bounds.windowBytes / 2

type Chunk = Extract<FromGateway, { type: 'chunk' }>
type Response = Extract<FromGateway, { type: 'response' }>
type Window = Extract<FromGateway, { type: 'window' }>

/**
 * An answer that a gateway relays: its chunks as bytes, pulled. Unread data is at most its window; each half of the
 * window is granted anew once it was read.
 */
export class RelayedAnswer implements Answer, StopListener {
  status = 200
  headers = new Headers()
  readonly #line: AnswerTransport
  readonly #options: AnswerOptions
  readonly #head = Promise.withResolvers<Answer>()
  readonly #heldBytes = new HeldBytes()
  readonly #inboundWindow = new InboundWindow()
  /** Bytes that were read and not granted again yet. */
  #ungranted = 0
  #reader: PromiseWithResolvers<Uint8Array | undefined> | undefined
  /** The content of the request, while it is sent. */
  #upload: ContentUpload | undefined
  /** Set once nothing more comes: the answer ended properly, or by `thrown`. */
  #end: { thrown?: unknown } | undefined

  constructor(line: AnswerTransport, options: AnswerOptions) {
    this.#line = line
    this.#options = options
    options.call.stop.addEventListener('abort', this)
  }

  /** Resolves once the answer begins. Rejects as `read` does, and with `request_timeout`. */
  get head(): Promise<Answer> {
    return this.#head.promise
  }

  /** Handles the abort of the request's signal. */
  handleEvent(): void {
    this.#cut(this.#options.call.stop.reason)
  }

  /** Begins to send the request's content, if it has one. */
  onSent(): void {
    const { id, call } = this.#options
    const { content } = call
    if (!content || this.#end) return
    this.#upload = new ContentUpload(content, {
      send: (data) => this.#line.sendContent(id, data),
      onSent: () => call.sent && this.#line.observeSent(call.sent),
      onFailed: (thrown) => this.#cut(new ConnectionFailed(true, thrown)),
    })
    void this.#upload.run()
  }

  /** Lets more of the request's content pass. Throws `ProtocolError` where it has none. */
  window({ bytes }: Window): void {
    if (!this.#options.call.content) throw new ProtocolError('The request has no content.')
    this.#upload?.grant(bytes)
  }

  /** Takes a part of the body. Throws `ProtocolError` where it exceeds the window. */
  chunk({ data, encoding, headers }: Chunk): void {
    if (!this.#inboundWindow.hasBegun) this.#begin(200, headers)
    const bytes = Buffer.from(data, encoding)
    this.#inboundWindow.chunk(bytes.byteLength)
    this.#take(bytes)
  }

  /** Takes the end of the answer, or all of it. Throws `ProtocolError` where it contradicts earlier frames. */
  response(frame: Response): void {
    const { status, headers, body } = frame
    const isFirst = !this.#inboundWindow.hasBegun
    this.#inboundWindow.response(frame)
    if (isFirst) this.#begin(status, headers)
    if (body) this.#take(Buffer.from(body))
    this.#finish({})
  }

  result(): never {
    throw new ProtocolError('A request has no tool result.')
  }

  /** Handles a failure at the gateway, before or within its answer. */
  failed({ code, message, sent }: GatewayFailure): void {
    const isSent = sent || this.#inboundWindow.hasBegun
    const cause = new Error(`${code}: ${message}`)
    const isLate = code === 'request_timeout' && isSent
    this.#finish({ thrown: isLate ? late(cause) : new ConnectionFailed(isSent, cause) })
  }

  /** Ends the answer as its socket is lost. `isSent`: the server behind may have answered. */
  lost(isSent = true): void {
    const words = isSent ? 'the socket was lost' : 'the socket was not reached'
    this.#finish({ thrown: new GatewayLost(isSent, new Error(words)) })
  }

  read(): Promise<Uint8Array | undefined> {
    const bytes = this.#heldBytes.take()
    if (bytes) {
      this.#onRead(bytes.byteLength)
      return Promise.resolve(bytes)
    }
    if (this.#end) {
      return 'thrown' in this.#end ? Promise.reject(this.#end.thrown) : Promise.resolve(undefined)
    }
    this.#reader = Promise.withResolvers()
    return this.#reader.promise
  }

  text(maxBytes?: number): Promise<string> {
    return readText(this, maxBytes)
  }

  cancel(): void {
    this.#heldBytes.take()
    this.#cut(new ConnectionFailed(true, new Error('the reader disconnected')))
  }

  #begin(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.status = status
    this.headers = headersOf(headers, status === 200 ? usualType(this.#options.call) : json)
    this.#head.resolve(this)
  }

  #take(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return
    const reader = this.#reader
    if (!reader) return this.#heldBytes.add(bytes)
    this.#reader = undefined
    this.#onRead(bytes.byteLength)
    reader.resolve(bytes)
  }

  #onRead(bytes: number): void {
    this.#ungranted += bytes
    if (this.#end || this.#ungranted < grantBytes) return
    this.#line.send({ type: 'window', id: this.#options.id, bytes: this.#ungranted })
    this.#inboundWindow.grant(this.#ungranted)
    this.#ungranted = 0
  }

  #cut(reason: unknown): void {
    if (this.#end) return
    this.#line.send({ type: 'cancel', id: this.#options.id })
    this.#finish({ thrown: reason }, true)
  }

  #finish(end: { thrown?: unknown }, isCut = false): void {
    if (this.#end) return
    this.#end = end
    this.#options.call.stop.removeEventListener('abort', this)
    this.#upload?.stop()
    this.#line.finish(this.#options.id, isCut)
    if ('thrown' in end) {
      this.#head.reject(end.thrown)
      this.#reader?.reject(end.thrown)
    } else this.#reader?.resolve(undefined)
    this.#reader = undefined
  }
}

/** Not retryable: the server behind may have worked on the request, and billed it. */
const late = (cause: Error) =>
  new ApiError('request_timeout', {
    message: 'The model server of the gateway did not answer in time.',
    retryable: false,
    cause,
  })

const json = 'application/json'

/** The content type of a good answer whose server states none. */
function usualType({ isStream, isBinary }: AnswerOptions['call']): string {
  if (isBinary) return 'application/octet-stream'
  return isStream ? 'text/event-stream' : json
}

/** Returns the headers of a gateway's answer; without a content type of its own, this one. */
function headersOf(received: Readonly<Record<string, string>>, contentType: string): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(received)) {
    if (forwardedHeaders.includes(name.toLowerCase()))
      headers.set(name, value.replaceAll(/[^\t -~]/g, ''))
  }
  if (!headers.has('content-type')) headers.set('content-type', contentType)
  return headers
}

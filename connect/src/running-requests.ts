import type { Transport } from '@tollgate/server/upstream/http/transport'
import { bounds, type FromGateway, type ToGateway } from '@tollgate/server/tunnel/frames'
import { ArrivingContent } from './arriving-content'
import type { Log } from './log'
import type { Offer } from './offer'
import {
  Cancelled,
  relay,
  TimedOut,
  toErrorFrame,
  type ErrorFrame,
  type Outlet,
  type RequestFrame,
} from './relay'
import { Window } from './window'
import { toErrorText, type Secrets } from './text'

type ToolCallFrame = ToGateway & { type: 'tool_call' }
type WorkFrame = RequestFrame | ToolCallFrame

export interface RunningPorts {
  offer: Offer
  transport: Transport
  log: Log
  secrets: Secrets
}

interface RunningRequest {
  abort: AbortController
  window: Window
  /** Set where the request's content follows it. */
  content?: ArrivingContent
}

/** The paths that are relayed; any other would reach endpoints that are not meant for Tollgate. */
const paths = [
  '/chat/completions',
  '/completions',
  '/embeddings',
  '/moderations',
  '/rerank',
  '/images/generations',
  '/images/edits',
  '/images/variations',
  '/audio/speech',
  '/audio/transcriptions',
  '/audio/translations',
]
/** Longer than any request may run, and below the maximum of timers. */
const maxTimeoutMs = 24 * 3_600_000

/** The running requests of one socket. */
export class RunningRequests {
  readonly #ports: RunningPorts
  readonly #outlet: Outlet
  readonly #byId = new Map<string, RunningRequest>()

  constructor(ports: RunningPorts, outlet: Outlet) {
    this.#ports = ports
    this.#outlet = outlet
  }

  get count(): number {
    return this.#byId.size
  }

  /** Starts a request. False where its id is that of a running one. */
  begin(frame: WorkFrame): boolean {
    const { id } = frame
    if (this.#byId.has(id)) return false
    if (this.#byId.size >= bounds.requests) {
      this.#refuse(id, 'overloaded', 'The gateway is at its limit of concurrent requests.')
      return true
    }
    const abort = new AbortController()
    this.#byId.set(id, {
      abort,
      window: new Window(frame.type === 'request' ? frame.window : 0),
      ...this.#contentOf(frame),
    })
    void this.#run(frame, abort)
    return true
  }

  /** Takes a piece of a request's content. Ignores an unknown id: that request has ended meanwhile. */
  addContent(id: string, data: string): void {
    this.#byId.get(id)?.content?.add(data)
  }

  #contentOf(frame: WorkFrame): Pick<RunningRequest, 'content'> {
    if (frame.type !== 'request' || !frame.content) return {}
    const { id } = frame
    const grant = (bytes: number) => this.#send({ type: 'window', id, bytes })
    return { content: new ArrivingContent(frame.content.bytes, grant) }
  }

  /** Ignores an unknown id: that request has ended meanwhile. */
  grant(id: string, bytes: number): void {
    this.#byId.get(id)?.window.grant(bytes)
  }

  cancel(id: string): void {
    this.#byId.get(id)?.abort.abort(new Cancelled('cancelled'))
  }

  cancelAll(): void {
    for (const { abort } of this.#byId.values())
      abort.abort(new Cancelled('the connection has ended'))
  }

  #refuse(id: string, code: ErrorFrame['code'], message: string): void {
    this.#outlet.send({ type: 'error', id, code, message, sent: false })
  }

  async #run(frame: WorkFrame, abort: AbortController): Promise<void> {
    const { id, timeout_ms: timeoutMs } = frame
    const expire = () => abort.abort(new TimedOut('too late'))
    const timer = setTimeout(expire, Math.min(timeoutMs, maxTimeoutMs))
    try {
      if (frame.type === 'request') await this.#relay(frame, abort.signal)
      else await this.#callTool(frame, abort.signal)
    } catch (thrown) {
      this.#failed(id, abort.signal.aborted ? abort.signal.reason : thrown)
    } finally {
      clearTimeout(timer)
      this.#byId.get(id)?.content?.stop(new Cancelled('the request has ended'))
      this.#byId.delete(id)
    }
  }

  #failed(id: string, thrown: unknown): void {
    const frame = toErrorFrame(id, thrown)
    if (!frame) return
    this.#ports.log('warn', 'request_failed', `${frame.message} (${toErrorText(thrown)})`)
    this.#send(frame)
  }

  #send(frame: FromGateway): void {
    this.#outlet.send(frame)
  }

  async #relay(request: RequestFrame, signal: AbortSignal): Promise<void> {
    const { id, provider, model, path } = request
    const { offer, transport, secrets } = this.#ports
    const server = offer.serverOf(provider, model)
    const { window, content } = this.#byId.get(id) ?? {}
    if (!server || !window || !paths.includes(path)) {
      return this.#refuse(id, 'not_served', 'The gateway does not serve this path or model.')
    }
    const hide = (text: string) => secrets.hide(text)
    const outlet = this.#outlet
    await relay({ request, server, window, content, signal, transport, hide, outlet })
  }

  async #callTool(call: ToolCallFrame, signal: AbortSignal): Promise<void> {
    const tool = this.#ports.offer.toolbox?.find(call.name)
    if (!tool) return this.#refuse(call.id, 'not_served', 'The gateway has no such tool.')
    const { id, arguments: parameters, most_bytes: maxBytes, timeout_ms: timeoutMs } = call
    const outcome = await tool.call(parameters, { signal, maxBytes, timeoutMs })
    await this.#outlet.waitForDrain()
    if ('failure' in outcome) {
      const { failure: message, sent } = outcome
      return this.#send({ type: 'error', id, code: 'tool_failed', message, sent })
    }
    const { content, isError } = outcome
    this.#send({ type: 'tool_result', id, content, is_error: isError })
  }
}

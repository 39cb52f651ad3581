import { EventLog } from './background-events'
import { StoredWriter } from './stored-writer'
import { toFailure } from '../protocols/responses/error-format'
import { toApiError } from '../errors'
import type { StreamReply } from '../gateway/request'
import { toRendered } from '../http/render'
import type { BackgroundStore, Owned } from '../stored-responses/background-store'
import { maxBytes } from '../stored-responses/store'
import type { StoredTurn } from '../stored-responses/response-turn'
import { ClientDisconnected } from '../wire/chunk-stream'
import { ChunkWriter, FrameWriter, type EventWriter } from '../wire/event-writer'
import type { JsonObject } from '../wire/json-body'

const retryPauseMs = 1000
/** After these tries its lease has expired, and it counts as lost. */
const maxAttempts = 30

export interface RunPorts {
  store: BackgroundStore
  onError: (error: unknown) => void
}

interface Begun {
  owned: Owned
  requestId: string
  turn: StoredTurn
  /** The answer as its caller first received it. */
  queued: JsonObject
  storesEvents: boolean
}

/** One background response made on this node: its stream, for which no caller waits, is read to its end. */
export class BackgroundRun {
  readonly owned: Owned
  readonly #begun: Begun
  readonly #ports: RunPorts
  readonly #controller = new AbortController()
  readonly #events: EventLog | undefined
  /** Ends the current wait. */
  #interrupt: ((reason: Error) => void) | undefined

  constructor(begun: Begun, ports: RunPorts) {
    this.owned = begun.owned
    this.#begun = begun
    this.#ports = ports
    if (begun.storesEvents) this.#events = new EventLog(ports.store, begun.owned, ports.onError)
  }

  /** Stands for the caller's signal; aborts when the response is no longer wanted. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Set once its row is stored: from then on, a missing row means that it is no longer wanted. */
  isBegun = false

  get storesEvents(): boolean {
    return this.#begun.storesEvents
  }

  get queued(): JsonObject {
    return this.#begun.queued
  }

  /** Abandons the run: it was cancelled, or deleted, or another node declared this one dead. */
  abandon(): void {
    this.#controller.abort(new ClientDisconnected())
    this.#interrupt?.(new ClientDisconnected())
  }

  /** Resolves when it has ended, and that is stored. Never rejects. */
  async run(reply: StreamReply): Promise<void> {
    const { turn } = this.#begun
    const last = await this.#read(reply)
    if (this.signal.aborted) return
    const response = this.#complete(turn.latest ?? this.queued)
    turn.storeInConversation(response)
    await turn.pendingWrite
    await this.#events?.end(last)
    await this.#end(response)
  }

  /** Reads the stream to its end. Resolves with its last frames. */
  async #read(reply: StreamReply): Promise<string> {
    const { turn, requestId } = this.#begun
    const own = reply.writer ?? new ChunkWriter(reply.identity)
    let writer: EventWriter = new StoredWriter(own, turn)
    try {
      const { stream, isEncoded } = await this.#unlessDisconnected(reply.opening)
      if (isEncoded) writer = new FrameWriter(writer)
      this.#progress()
      for (;;) {
        const chunks = await this.#unlessDisconnected(stream.read())
        const text = (chunks ?? []).map((chunk) => writer.write(chunk)).join('')
        if (!chunks || stream.isEnded) return text + writer.end()
        if (text !== '') this.#events?.add(text)
      }
    } catch (thrown) {
      return thrown instanceof ClientDisconnected ? '' : writer.fail(toRendered(thrown), requestId)
    }
  }

  /** Rejects as soon as the response is not wanted: the call itself may continue without its caller. */
  #unlessDisconnected<Value>(pending: Promise<Value>): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#interrupt = reject
    if (this.signal.aborted) reject(new ClientDisconnected())
    pending.then(resolve, reject)
    return promise
  }

  #progress(): void {
    const response = { ...this.queued, status: 'in_progress' }
    this.#ports.store.update(this.owned, response).catch(this.#ports.onError)
  }

  /** Returns the final response; a stream that broke off without an end has failed. */
  #complete(response: JsonObject): JsonObject {
    const { status } = response
    const failed = (error: unknown) => ({
      ...this.queued,
      status: 'failed',
      error: toFailure(toApiError(error), this.#begun.requestId),
    })
    if (status === 'queued' || status === 'in_progress') return failed(new Error('no end'))
    if (Buffer.byteLength(JSON.stringify(response)) <= maxBytes) return response
    const message = `The answer exceeds the maximum stored size of ${maxBytes / 1024 / 1024} MB.`
    return { ...failed(undefined), error: { code: 'server_error', message } }
  }

  /** Stores the end, retrying until the database accepts it. */
  async #end(response: JsonObject): Promise<void> {
    for (let tries = 0; tries < maxAttempts && !this.signal.aborted; tries++) {
      try {
        await this.#ports.store.end(this.owned, response)
        return
      } catch (thrown) {
        this.#ports.onError(thrown)
        await Bun.sleep(retryPauseMs)
      }
    }
  }
}

import { EventLog } from './background-events'
import { StoredWriter } from './stored-writer'
import { toFailure } from '../dialects/responses/wording'
import { toApiError } from '../errors'
import type { StreamReply } from '../gateway/job'
import { toRendered } from '../http/render'
import type { BackgroundStore, Owned } from '../stored-responses/background-store'
import { maxBytes } from '../stored-responses/store'
import type { StoredTurn } from '../stored-responses/turn'
import { ClientGone } from '../wire/chunk-stream'
import { ChunkWriter, FrameWriter, type EventWriter } from '../wire/event-writer'
import type { JsonObject } from '../wire/json-body'

const betweenTriesMs = 1000
/** Then its lease has run out, and it counts as lost. */
const maxTries = 30

export interface RunPorts {
  store: BackgroundStore
  onError: (error: unknown) => void
}

interface Begun {
  owned: Owned
  requestId: string
  turn: StoredTurn
  /** The answer as its caller got it at first. */
  queued: JsonObject
  keepsEvents: boolean
}

/** One answer that is made here in the background: the stream that its caller does not wait for, read to its end. */
export class BackgroundRun {
  readonly owned: Owned
  readonly #begun: Begun
  readonly #ports: RunPorts
  readonly #controller = new AbortController()
  readonly #events: EventLog | undefined
  #answerBytes = 0
  /** Ends what is waited for. */
  #interrupt: ((reason: Error) => void) | undefined

  constructor(begun: Begun, ports: RunPorts) {
    this.owned = begun.owned
    this.#begun = begun
    this.#ports = ports
    if (begun.keepsEvents) this.#events = new EventLog(ports.store, begun.owned, ports.onError)
  }

  /** Stands for the caller of its request, who leaves when the answer is not wanted any more. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** It is written down: from here on, where that is gone, it is not wanted. */
  isBegun = false

  get keepsEvents(): boolean {
    return this.#begun.keepsEvents
  }

  /** How much is kept of its answer and its events. */
  get keptBytes(): number {
    return this.#answerBytes + (this.#events?.bytes ?? 0)
  }

  get queued(): JsonObject {
    return this.#begun.queued
  }

  /** It was cancelled, or deleted, or another node took this one for dead. */
  abandon(): void {
    this.#controller.abort(new ClientGone())
    this.#interrupt?.(new ClientGone())
  }

  /** Resolves when it has ended, and that is written down. Never rejects. */
  async run(reply: StreamReply): Promise<void> {
    const { turn } = this.#begun
    const last = await this.#read(reply)
    if (this.signal.aborted) return
    const response = this.#whole(turn.latest ?? this.queued)
    turn.keepInConversation(response)
    await turn.kept
    await this.#events?.end(last)
    await this.#end(response)
  }

  /** Reads the stream to its end. Resolves with its last frames. */
  async #read(reply: StreamReply): Promise<string> {
    const { turn, requestId } = this.#begun
    const own = reply.writer ?? new ChunkWriter(reply.identity)
    let writer: EventWriter = new StoredWriter(own, turn)
    try {
      const { stream, isTold } = await this.#unlessLeft(reply.opening)
      if (isTold) writer = new FrameWriter(writer)
      this.#progress()
      for (;;) {
        const chunks = await this.#unlessLeft(stream.read())
        const text = (chunks ?? []).map((chunk) => writer.write(chunk)).join('')
        if (!chunks || stream.ended) return text + writer.end()
        if (text !== '') this.#events?.add(text)
      }
    } catch (thrown) {
      return thrown instanceof ClientGone ? '' : writer.fail(toRendered(thrown), requestId)
    }
  }

  /** Rejects as soon as the answer is not wanted: what is asked may go on without its caller. */
  #unlessLeft<Value>(asked: Promise<Value>): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#interrupt = reject
    if (this.signal.aborted) reject(new ClientGone())
    asked.then(resolve, reject)
    return promise
  }

  #progress(): void {
    const response = { ...this.queued, status: 'in_progress' }
    this.#ports.store.update(this.owned, response).catch(this.#ports.onError)
  }

  /** The answer as it ended; a stream that broke off without a word has failed. */
  #whole(response: JsonObject): JsonObject {
    const { status } = response
    const failed = (error: unknown) => ({
      ...this.queued,
      status: 'failed',
      error: toFailure(toApiError(error), this.#begun.requestId),
    })
    if (status === 'queued' || status === 'in_progress') return failed(new Error('no end'))
    this.#answerBytes = Buffer.byteLength(JSON.stringify(response))
    if (this.#answerBytes <= maxBytes) return response
    const words = `The answer is larger than ${maxBytes / 1024 / 1024} MB, the most that is kept.`
    return { ...failed(undefined), error: { code: 'server_error', message: words } }
  }

  /** Writes down how it ended, as soon as the database takes it. */
  async #end(response: JsonObject): Promise<void> {
    for (let tries = 0; tries < maxTries && !this.signal.aborted; tries++) {
      try {
        await this.#ports.store.end(this.owned, response)
        return
      } catch (thrown) {
        this.#ports.onError(thrown)
        await Bun.sleep(betweenTriesMs)
      }
    }
  }
}

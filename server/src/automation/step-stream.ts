import type { Identity } from '../wire/answer'
import type { ChunkStream } from '../wire/chunk-stream'
import { isObject, type JsonObject } from '../wire/json-body'

/** A tool's result, as the model receives it. */
export interface StreamedToolResult {
  tool_call_id: string
  content: string | null
}
export type OnToolResult = (result: StreamedToolResult) => void

/** A message whose answers are streamed one after the other. */
export interface Steps {
  /** Whether the message is over: after a model's answer that leaves no tool to run. */
  readonly isOver: boolean
  /** The text at the end that the model did not write. */
  readonly closing: string | undefined
  runTools: (onToolResult: OnToolResult) => Promise<void>
  /** Starts the model's next answer, which is stored as it passes. */
  streamNext: () => Promise<ChunkStream>
  /** Resolves with the error to report for a failure. */
  failed: (thrown: unknown, as: 'streamed') => Promise<unknown>
  /** Ends the message as its reader left between two answers of the model. */
  onClientDisconnect: () => void
}

/**
 * The answers of one message, and the results of tools between them, as one stream of chunks: one id, one role, one
 * finish, calls numbered from first to last. A result is a chunk that changes nothing of the answer, with
 * `tool_message` beside its choices. Source: docs/concepts/automation.md.
 */
export class StepStream implements ChunkStream {
  readonly #steps: Steps
  readonly #identity: Identity
  #current: ChunkStream | undefined
  #isFirst = true
  /** The number of tool calls in earlier answers. */
  #calls = 0
  #callsOfAnswer = 0
  /** The last chunk of the model's answer; it is dropped between two answers. */
  #finish: string | undefined
  /** Chunks to send before any that follow. */
  #waiting: string[] = []
  /** Set when the waiting chunks are the last ones. */
  #isLast = false
  #failure: { thrown: unknown } | undefined
  #wake = Promise.withResolvers<void>()
  #ended = false

  constructor(steps: Steps, identity: Identity, first: ChunkStream) {
    this.#steps = steps
    this.#identity = identity
    this.#current = first
  }

  get isEnded(): boolean {
    return this.#ended
  }

  async read(): Promise<string[] | undefined> {
    while (!this.#ended) {
      // Results that arrived between two reads precede the answer that followed them.
      if (this.#current && this.#waiting.length > 0) return this.#waiting.splice(0)
      const chunks = this.#current ? await this.#readOf(this.#current) : await this.#between()
      if (chunks.length > 0) return chunks
    }
    return undefined
  }

  cancel(reason: Error): void {
    if (this.#current) this.#current.cancel(reason)
    else this.#steps.onClientDisconnect()
  }

  async #readOf(answer: ChunkStream): Promise<string[]> {
    const chunks = (await answer.read())?.flatMap((text) => this.#framesOf(text))
    if (chunks && !answer.isEnded) return chunks
    const last = chunks ?? []
    // By now the answer is stored, and it is known whether it calls tools.
    if (this.#steps.isOver) {
      this.#ended = true
      return this.#finish === undefined ? last : [...last, this.#finish]
    }
    this.#current = undefined
    this.#isFirst = false
    this.#calls += this.#callsOfAnswer
    this.#callsOfAnswer = 0
    void this.#goOn()
    return last
  }

  /** Runs even without a reader: the model has called the tools. */
  async #goOn(): Promise<void> {
    const steps = this.#steps
    try {
      await steps.runTools((result) => this.#add(this.#resultChunk(result)))
      if (steps.isOver) {
        this.#add(this.#chunk({ content: steps.closing ?? '' }), this.#chunk({}, 'length'))
        this.#isLast = true
      } else this.#current = await steps.streamNext()
    } catch (thrown) {
      this.#failure = { thrown: await steps.failed(thrown, 'streamed') }
    }
    this.#wake.resolve()
  }

  #add(...chunks: string[]): void {
    this.#waiting.push(...chunks)
    this.#wake.resolve()
  }

  /** Returns the results that have arrived; after the last one the next answer, or the end. */
  async #between(): Promise<string[]> {
    if (this.#waiting.length === 0 && !this.#failure) await this.#wake.promise
    this.#wake = Promise.withResolvers()
    const chunks = this.#waiting
    this.#waiting = []
    if (this.#isLast) this.#ended = true
    if (chunks.length === 0 && this.#failure) throw this.#failure.thrown
    return chunks
  }

  #resultChunk(result: StreamedToolResult): string {
    return this.#chunk({}, null, { tool_message: { role: 'tool', ...result } })
  }

  #chunk(delta: JsonObject, finish_reason: string | null = null, rest: JsonObject = {}): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }]
    return JSON.stringify({ ...this.#identity, choices, ...rest })
  }

  /** Rewrites a chunk of an answer for the client; the last one waits until it is known whether it ends the message. */
  #framesOf(text: string): string[] {
    const chunk: unknown = JSON.parse(text)
    if (!isObject(chunk)) return []
    const choice: unknown = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined
    if (!isObject(choice)) return []
    const { id, created } = this.#identity
    const toChunk = (changes: JsonObject) =>
      JSON.stringify({ ...chunk, id, created, choices: [{ ...choice, ...changes }] })
    const delta = this.#deltaOf(isObject(choice['delta']) ? choice['delta'] : {})
    if (typeof choice['finish_reason'] === 'string') this.#finish = toChunk({ delta: {} })
    return Object.keys(delta).length === 0 ? [] : [toChunk({ delta, finish_reason: null })]
  }

  #deltaOf(delta: JsonObject): JsonObject {
    const { role, content, tool_calls: calls, ...rest } = delta
    return {
      // Clients concatenate its pieces, as they do with content.
      ...(this.#isFirst && role !== undefined && { role }),
      ...(content !== undefined && (this.#isFirst || content) && { content }),
      ...(Array.isArray(calls) && { tool_calls: calls.filter(isObject).map((c) => this.#call(c)) }),
      ...rest,
    }
  }

  #call(call: JsonObject): JsonObject {
    const index = Number(call['index'])
    this.#callsOfAnswer = Math.max(this.#callsOfAnswer, index + 1)
    return { ...call, index: this.#calls + index }
  }
}

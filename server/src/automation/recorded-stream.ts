import type { Run } from './message-runs'
import type { ChunkStream } from '../wire/chunk-stream'
import { CollectedChat } from '../wire/collected-chat'
import { isObject, type JsonObject } from '../wire/json-body'

/**
 * Stores the content of a stream: whole, or as far as it came before it broke. Once it resolves, the content is
 * stored.
 */
export type StoreAnswer = (answer: JsonObject, isComplete: boolean) => Promise<void>

/**
 * A running answer that is collected as it passes, and stored once: before its last chunk is sent, or when it breaks,
 * its reader leaves or its session ends.
 */
export class RecordedStream implements ChunkStream {
  readonly #source: ChunkStream
  readonly #run: Run
  readonly #store: StoreAnswer
  readonly #collected = new CollectedChat()
  #storing: Promise<void> | undefined
  /** Ends the read that waits. */
  #interrupt: ((reason: Error) => void) | undefined

  constructor(source: ChunkStream, run: Run, store: StoreAnswer) {
    this.#source = source
    this.#run = run
    this.#store = store
    // The source listens to the signal too: here it remains to store what arrived.
    if (run.signal.aborted) this.#onDisconnect()
    else run.signal.addEventListener('abort', () => this.#onDisconnect(), { once: true })
  }

  get isEnded(): boolean {
    return this.#source.isEnded
  }

  async read(): Promise<string[] | undefined> {
    try {
      const chunks = await this.#next()
      for (const text of chunks ?? []) this.#add(text)
      if (!chunks || this.isEnded) await this.#end(true)
      return chunks
    } catch (thrown) {
      this.#onDisconnect()
      throw thrown
    }
  }

  /** When the source is ended it assumes that its reader left, but the reader of this stream is still there. */
  #next(): Promise<string[] | undefined> {
    const { end } = this.#run
    if (end) return Promise.reject(end)
    const { promise, resolve, reject } = Promise.withResolvers<string[] | undefined>()
    this.#interrupt = reject
    this.#source.read().then(resolve, reject)
    return promise
  }

  cancel(reason: Error): void {
    this.#source.cancel(reason)
    this.#onDisconnect()
  }

  #add(text: string): void {
    // Chunks that follow the stored content are not read.
    if (this.#storing) return
    const chunk: unknown = JSON.parse(text)
    if (isObject(chunk)) this.#collected.add(chunk)
  }

  #onDisconnect(): void {
    if (this.#run.end) this.#interrupt?.(this.#run.end)
    this.#end(false).catch(() => undefined)
  }

  #end(isComplete: boolean): Promise<void> {
    this.#storing ??= this.#store(this.#collected.complete(), isComplete)
    return this.#storing
  }
}

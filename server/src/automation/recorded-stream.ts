import type { Run } from './message-runs'
import type { ChunkStream } from '../wire/chunk-stream'
import { CollectedChat } from '../wire/collected-chat'
import { isObject, type JsonObject } from '../wire/json-body'

/**
 * Stores the content of a stream: whole, or as far as it came before it broke. Once it resolves, the content is
 * stored.
 */
export type Keep = (answer: JsonObject, isWhole: boolean) => Promise<void>

/**
 * A running answer that is collected as it passes, and stored once: before its last chunk is sent, or when it breaks,
 * its reader leaves or its session ends.
 */
export class KeptStream implements ChunkStream {
  readonly #source: ChunkStream
  readonly #run: Run
  readonly #keep: Keep
  readonly #collected = new CollectedChat()
  #keeping: Promise<void> | undefined
  /** Ends the read that waits. */
  #interrupt: ((reason: Error) => void) | undefined

  constructor(source: ChunkStream, run: Run, keep: Keep) {
    this.#source = source
    this.#run = run
    this.#keep = keep
    // The source listens to the signal too: here it remains to store what arrived.
    if (run.signal.aborted) this.#leave()
    else run.signal.addEventListener('abort', () => this.#leave(), { once: true })
  }

  get ended(): boolean {
    return this.#source.ended
  }

  async read(): Promise<string[] | undefined> {
    try {
      const chunks = await this.#next()
      for (const text of chunks ?? []) this.#add(text)
      if (!chunks || this.ended) await this.#end(true)
      return chunks
    } catch (thrown) {
      this.#leave()
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
    this.#leave()
  }

  #add(text: string): void {
    // Chunks that follow the stored content are not read.
    if (this.#keeping) return
    const chunk: unknown = JSON.parse(text)
    if (isObject(chunk)) this.#collected.add(chunk)
  }

  #leave(): void {
    if (this.#run.end) this.#interrupt?.(this.#run.end)
    this.#end(false).catch(() => undefined)
  }

  #end(isWhole: boolean): Promise<void> {
    this.#keeping ??= this.#keep(this.#collected.whole(), isWhole)
    return this.#keeping
  }
}

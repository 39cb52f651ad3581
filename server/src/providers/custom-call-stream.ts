import type { RelayedStream } from './openai/relayed-stream'
import { CustomCallChunks, type CustomNames } from '../wire/custom-calls'
import type { Usage } from '../wire/usage'

/**
 * A stream of chunks whose calls of functions become calls of the custom tools that these functions stand
 * for.
 */
export class CustomCallStream implements RelayedStream {
  readonly #stream: RelayedStream
  readonly #calls: CustomCallChunks

  constructor(stream: RelayedStream, names: CustomNames) {
    this.#stream = stream
    this.#calls = new CustomCallChunks(names)
  }

  get isOver(): boolean {
    return this.#stream.isOver === true
  }

  next(data: string): string[] {
    return this.#toCustom(this.#stream.next(data))
  }

  end(sawDone: boolean): string[] {
    return this.#toCustom(this.#stream.end(sawDone))
  }

  cut(maxTokens: number): string[] {
    return this.#toCustom(this.#stream.cut?.(maxTokens) ?? [])
  }

  isComplete(): boolean {
    return this.#stream.isComplete?.() === true
  }

  get hasOutput(): boolean {
    return this.#stream.hasOutput
  }

  get isFinished(): boolean {
    return this.#stream.isFinished === true
  }

  tokensAtLeast(): number {
    return this.#stream.tokensAtLeast?.() ?? 0
  }

  usage(): Usage {
    return this.#stream.usage()
  }

  hasContent(): boolean {
    return this.#stream.hasContent()
  }

  #toCustom(texts: readonly string[]): string[] {
    return texts.flatMap((text) => this.#calls.next(text))
  }
}

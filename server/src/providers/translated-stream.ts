import type { PartsReader } from './adapter'
import {
  withinShown,
  withUnits,
  type RelayedStream,
  type RelayRequest,
} from './openai/relayed-stream'
import { endedEarly } from './upstream-error'
import { ChatChunks } from '../wire/chat-chunks'
import { completionTokens, toUsageBlock, type Usage } from '../wire/usage'
import { largerUsage, withOutputOfAtMost } from '../wire/usage-claims'

/** What a translated answer needs to know of its request. */
export type TranslatedRequest = Omit<RelayRequest, 'options'>

/** One stream of another dialect, read by its adapter, as the chunks that every client reads. */
export class TranslatedStream implements RelayedStream {
  readonly #read: PartsReader
  readonly #request: TranslatedRequest
  readonly #chunks: ChatChunks
  #told: Usage | undefined
  /** Something was said since the provider last counted. */
  #saidMore = false
  isOver = false

  constructor(read: PartsReader, request: TranslatedRequest) {
    this.#read = read
    this.#request = request
    this.#chunks = new ChatChunks(request)
  }

  next(data: string): string[] {
    return this.#read(data).flatMap((part) => {
      if (part.type === 'usage') {
        this.#told = this.#told ? largerUsage(this.#told, part.usage) : part.usage
        this.#saidMore = false
        return []
      }
      if (part.type === 'end') {
        this.isOver = true
        return []
      }
      if (part.type !== 'finish') this.#saidMore = true
      return this.#chunks.add(part)
    })
  }

  /** Other dialects have no `[DONE]`: the finish alone says that the answer is whole. */
  end(): string[] {
    if (!this.#chunks.finished) throw endedEarly(this.#request.source)
    return this.#usageChunks()
  }

  isComplete(): boolean {
    return this.#chunks.finished && this.#told !== undefined && !this.#saidMore
  }

  #usageChunks(): string[] {
    const { identity, wantsUsage } = this.#request
    if (!wantsUsage) return []
    const usage = toUsageBlock(this.usage())
    return [JSON.stringify({ ...identity, choices: [], usage })]
  }

  tokensAtLeast(): number {
    return this.#chunks.size.tokensAtLeast
  }

  cut(most: number): string[] {
    // A count that comes after all that was said is one, though the answer has not finished.
    if (!this.#told || this.#saidMore) this.#told = withOutputOfAtMost(this.usage(), most)
    this.#saidMore = false
    return [...this.#chunks.cut(), ...this.#usageChunks()]
  }

  usage(): Usage {
    const { size } = this.#chunks
    return withUnits(this.#counted(), this.#request, { size: () => size })
  }

  /**
   * As the provider counted, and what was said allows; what it did not come to count is estimated.
   */
  #counted(): Usage {
    const { size } = this.#chunks
    const told = this.#told && withinShown(this.#told, size, this.#request)
    if (told && this.#chunks.finished && !this.#saidMore) return told
    const estimated = this.#request.estimate(size)
    return told ? withOutputOf(told, estimated) : estimated
  }
}

/** A count from before the end, with the output that was seen since. */
function withOutputOf(told: Usage, estimated: Usage): Usage {
  const unseen = completionTokens(estimated) - completionTokens(told)
  return unseen > 0 ? { ...told, output: told.output + unseen, estimated: true } : told
}

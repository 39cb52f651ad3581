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
import { maxUsage, withOutputOfAtMost } from '../wire/usage-claims'

/** The facts about its request that a translated answer needs. */
export type TranslatedRequest = Omit<RelayRequest, 'options'>

/** One stream of another dialect, read by its adapter, as the chunks that every client reads. */
export class TranslatedStream implements RelayedStream {
  readonly #read: PartsReader
  readonly #request: TranslatedRequest
  readonly #chunks: ChatChunks
  #told: Usage | undefined
  /** Content arrived since the provider last counted. */
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
        this.#told = this.#told ? maxUsage(this.#told, part.usage) : part.usage
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

  /** Other dialects have no `[DONE]`: the finish alone shows that the answer is whole. */
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
    // A count that comes after all content is complete, though the answer has not finished.
    if (!this.#told || this.#saidMore) this.#told = withOutputOfAtMost(this.usage(), most)
    this.#saidMore = false
    return [...this.#chunks.cut(), ...this.#usageChunks()]
  }

  usage(): Usage {
    const { size } = this.#chunks
    return withUnits(this.#counted(), this.#request, { size: () => size })
  }

  /**
   * Returns the provider's count, limited to what its content allows; the part that it did not count is
   * estimated.
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

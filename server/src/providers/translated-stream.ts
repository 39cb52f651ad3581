import type { PartsReader } from './adapter'
import {
  withinVisible,
  withUnits,
  type RelayedStream,
  type RelayRequest,
} from './openai/relayed-stream'
import { truncatedAnswer } from './upstream-error'
import { ChatChunks } from '../wire/chat-chunks'
import { toPlainUsageBlock } from '../wire/hidden-cache'
import { completionTokens, toUsageBlock, type Usage } from '../wire/usage'
import { maxUsage, withBoundedOutput } from '../wire/usage-claims'

/** The facts about its request that a translated answer needs. */
export type TranslatedRequest = Omit<RelayRequest, 'options'>

/** One stream of another dialect, read by its adapter, as the chunks that every client reads. */
export class TranslatedStream implements RelayedStream {
  readonly #read: PartsReader
  readonly #request: TranslatedRequest
  readonly #chunks: ChatChunks
  #reported: Usage | undefined
  /** Content arrived since the provider last counted. */
  #hasMoreOutput = false
  isOver = false

  constructor(read: PartsReader, request: TranslatedRequest) {
    this.#read = read
    this.#request = request
    this.#chunks = new ChatChunks(request)
  }

  next(data: string): string[] {
    return this.#read(data).flatMap((part) => {
      if (part.type === 'usage') {
        this.#reported = this.#reported ? maxUsage(this.#reported, part.usage) : part.usage
        this.#hasMoreOutput = false
        return []
      }
      if (part.type === 'end') {
        this.isOver = true
        return []
      }
      if (part.type !== 'finish') this.#hasMoreOutput = true
      return this.#chunks.add(part)
    })
  }

  /** Other dialects have no `[DONE]`: the finish alone shows that the answer is whole. */
  end(): string[] {
    if (!this.#chunks.finished) throw truncatedAnswer(this.#request.source)
    return this.#usageChunks()
  }

  isComplete(): boolean {
    return this.#chunks.finished && this.#reported !== undefined && !this.#hasMoreOutput
  }

  #usageChunks(): string[] {
    const { identity, wantsUsage, hidesCachedTokens } = this.#request
    if (!wantsUsage) return []
    const used = this.usage()
    const usage = hidesCachedTokens ? toPlainUsageBlock(used) : toUsageBlock(used)
    return [JSON.stringify({ ...identity, choices: [], usage })]
  }

  tokensAtLeast(): number {
    return this.#chunks.size.tokensAtLeast
  }

  cut(maxTokens: number): string[] {
    // A count that comes after all content is complete, though the answer has not finished.
    if (!this.#reported || this.#hasMoreOutput)
      this.#reported = withBoundedOutput(this.usage(), maxTokens)
    this.#hasMoreOutput = false
    return [...this.#chunks.cut(), ...this.#usageChunks()]
  }

  usage(): Usage {
    const { size } = this.#chunks
    return withUnits(this.#countUsage(), this.#request, { size: () => size })
  }

  /**
   * Returns the provider's count, limited to what its content allows; the part that it did not count is
   * estimated.
   */
  #countUsage(): Usage {
    const { size } = this.#chunks
    const reported = this.#reported && withinVisible(this.#reported, size, this.#request)
    if (reported && this.#chunks.finished && !this.#hasMoreOutput) return reported
    const estimated = this.#request.estimate(size)
    return reported ? withOutputOf(reported, estimated) : estimated
  }
}

/** A count from before the end, with the output that was seen since. */
function withOutputOf(reported: Usage, estimated: Usage): Usage {
  const unseen = completionTokens(estimated) - completionTokens(reported)
  return unseen > 0 ? { ...reported, output: reported.output + unseen, estimated: true } : reported
}

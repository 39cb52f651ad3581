import type { PartsReader } from './adapter'
import {
  withinVisible,
  withUnits,
  type RelayedStream,
  type RelayRequest,
} from './openai/relayed-stream'
import { truncatedAnswer, unnamedCall } from './upstream-error'
import { ChatChunks } from '../wire/chat-chunks'
import { toPlainUsageBlock } from '../wire/hidden-cache'
import type { FinishReason } from '../wire/finish-reason'
import { completionTokens, toUsageBlock, type Usage } from '../wire/usage'
import { maxUsage, withBoundedOutput, withEstimated, type MissingSides } from '../wire/usage-claims'

/** The facts about its request that a translated answer needs. */
export type TranslatedRequest = Omit<RelayRequest, 'options'>

/** One stream of another dialect, read by its adapter, as the chunks that every client reads. */
export class TranslatedStream implements RelayedStream {
  readonly #read: PartsReader
  readonly #request: TranslatedRequest
  readonly #chunks: ChatChunks
  #reported: Usage | undefined
  /** The reason of the finish that follows, unless the stream breaks off before it. */
  #reason: FinishReason | undefined
  #missingSides: MissingSides | undefined
  /** Content arrived since the provider last counted. */
  #hasMoreOutput = false
  hasOutput = false
  isOver = false

  constructor(read: PartsReader, request: TranslatedRequest) {
    this.#read = read
    this.#request = request
    this.#chunks = new ChatChunks(request)
  }

  next(data: string): string[] {
    return this.#read(data).flatMap((part) => {
      if (part.type === 'usage') {
        this.#reported =
          this.#reported && !part.corrects ? maxUsage(this.#reported, part.usage) : part.usage
        this.#missingSides = part.missing
        this.#hasMoreOutput = false
        return []
      }
      if (part.type === 'stop') {
        this.#reason = part.reason
        return []
      }
      if (part.type === 'end') {
        this.isOver = true
        return []
      }
      this.hasOutput = true
      if (part.type !== 'finish') this.#hasMoreOutput = true
      else if (this.#chunks.hasUnnamedCall) throw unnamedCall(this.#request.source)
      return this.#chunks.add(part)
    })
  }

  /** Other dialects have no `[DONE]`: the finish alone, or its reason, shows that the answer is whole. */
  end(): string[] {
    if (!this.isFinished) throw truncatedAnswer(this.#request.source)
    const reason = this.#chunks.finished ? undefined : this.#reason
    if (reason && this.#chunks.hasUnnamedCall) throw unnamedCall(this.#request.source)
    const last = reason ? this.#chunks.add({ type: 'finish', reason }) : []
    return [...last, ...this.#usageChunks()]
  }

  isComplete(): boolean {
    return this.isFinished && this.#reported !== undefined && !this.#hasMoreOutput
  }

  get isFinished(): boolean {
    return this.#chunks.finished || this.#reason !== undefined
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

  hasContent(): boolean {
    return this.#chunks.size.hasContent
  }

  /**
   * Returns the provider's count, limited to what its content allows; the part that it did not count is
   * estimated.
   */
  #countUsage(): Usage {
    const { size } = this.#chunks
    const counted = this.#reported && withinVisible(this.#reported, size, this.#request)
    const reported =
      counted && this.#missingSides ? this.#withMissing(counted, this.#missingSides) : counted
    if (reported && this.#chunks.finished && !this.#hasMoreOutput) return reported
    const estimated = this.#request.estimate(size)
    return reported ? withOutputOf(reported, estimated) : estimated
  }

  #withMissing(counted: Usage, missingSides: MissingSides): Usage {
    return withEstimated(counted, missingSides, this.#request.estimate(this.#chunks.size))
  }
}

/** A count from before the end, with the output that was seen since. */
function withOutputOf(reported: Usage, estimated: Usage): Usage {
  const unseen = completionTokens(estimated) - completionTokens(reported)
  return unseen > 0 ? { ...reported, output: reported.output + unseen, estimated: true } : reported
}

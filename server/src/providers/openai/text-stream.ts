import {
  limitChoices,
  readChoices,
  StreamUsage,
  without,
  type RelayedStream,
  type RelayRequest,
} from './relayed-stream'
import { readEvent } from '../event'
import { truncatedAnswer, toFailure } from '../upstream-error'
import { toFinishReason } from '../../wire/finish-reason'
import { stripForeignFields } from '../../wire/hidden-cache'
import type { JsonObject } from '../../wire/json-body'
import type { Usage } from '../../wire/usage'

const chunkFields = new Set(['error', 'usage', 'x_groq', 'choices', 'obfuscation'])

/** Relays one stream of legacy completion chunks. Source: contract 4.4. */
export class TextStream implements RelayedStream {
  readonly #request: RelayRequest
  readonly #usage: StreamUsage
  /** Index of each choice -> whether it has finished. */
  readonly #choices = new Map<number, boolean>()
  #finished = 0
  hasOutput = false

  constructor(request: RelayRequest) {
    this.#request = request
    this.#usage = new StreamUsage(request)
  }

  next(data: string): string[] {
    const { source, identity } = this.#request
    const chunk = readEvent(data, source)
    this.#usage.record(chunk)
    if (this.#request.hidesCachedTokens) stripForeignFields(chunk)
    return readChoices(chunk, source).flatMap((theirs) => {
      const choice = this.#relay(chunk, theirs)
      if (!choice) return []
      return [JSON.stringify({ ...without(chunk, chunkFields), ...identity, choices: [choice] })]
    })
  }

  #relay(chunk: JsonObject, theirs: JsonObject): JsonObject | undefined {
    const index = Number.isInteger(theirs['index']) ? Number(theirs['index']) : 0
    const hadFinished = this.#choices.get(index)
    if (hadFinished) return undefined
    if (hadFinished === undefined) this.#usage.size.addAround()
    const text = typeof theirs['text'] === 'string' ? theirs['text'] : ''
    this.#usage.size.add(text)
    const providerReason = theirs['finish_reason']
    const hasFinished = typeof providerReason === 'string' && providerReason !== ''
    const finish = hasFinished ? toFinishReason(providerReason, false) : null
    if (finish === undefined) {
      this.#usage.dropLast()
      throw toFailure(chunk, this.#request.source)
    }
    if (hasFinished) this.#finish(index)
    else this.#choices.set(index, false)
    limitChoices(this.#choices.size, this.#request)
    if (text === '' && !hasFinished) return undefined
    this.hasOutput = true
    return { ...theirs, text, index, logprobs: theirs['logprobs'] ?? null, finish_reason: finish }
  }

  /** Decides as for a chat: some servers leave `[DONE]` out, others the reason before it. */
  end(sawDone: boolean): string[] {
    const isWhole = sawDone ? this.hasOutput : this.isFinished
    if (!isWhole) throw truncatedAnswer(this.#request.source)
    const chunks = sawDone ? this.#finishRunning(this.#usage.unstatedReason) : []
    return [...chunks, ...this.#usage.chunks()]
  }

  isComplete(): boolean {
    return this.#usage.isKnown && this.isFinished
  }

  get isFinished(): boolean {
    const { answers = 1 } = this.#request
    return this.#finished >= answers && this.#finished === this.#choices.size
  }

  cut(maxTokens: number): string[] {
    return [...this.#finishRunning('length'), ...this.#usage.cut(maxTokens)]
  }

  #finishRunning(finish_reason: 'stop' | 'length'): string[] {
    const { identity } = this.#request
    const running = [...this.#choices].filter(([, hasFinished]) => !hasFinished)
    return running.map(([index]) => {
      this.#finish(index)
      const choice = { text: '', index, logprobs: null, finish_reason }
      return JSON.stringify({ ...identity, choices: [choice] })
    })
  }

  #finish(index: number): void {
    this.#choices.set(index, true)
    this.#finished += 1
  }

  tokensAtLeast(): number {
    return this.#usage.size.tokensAtLeast
  }

  usage(): Usage {
    return this.#usage.total()
  }

  hasContent(): boolean {
    return this.#usage.size.hasContent
  }
}

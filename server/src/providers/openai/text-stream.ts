import {
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
  readonly #finished = new Map<number, boolean>()

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
    const hadFinished = this.#finished.get(index)
    if (hadFinished) return undefined
    if (hadFinished === undefined) this.#usage.size.addAround()
    const text = typeof theirs['text'] === 'string' ? theirs['text'] : ''
    this.#usage.size.add(text)
    const providerReason = theirs['finish_reason']
    const hasFinished = typeof providerReason === 'string' && providerReason !== ''
    const finish = hasFinished ? toFinishReason(providerReason, false) : null
    if (finish === undefined) throw toFailure(chunk, this.#request.source)
    this.#finished.set(index, hasFinished)
    if (text === '' && !hasFinished) return undefined
    return { ...theirs, text, index, logprobs: theirs['logprobs'] ?? null, finish_reason: finish }
  }

  end(sawDone: boolean): string[] {
    if (!this.#isComplete(sawDone)) throw truncatedAnswer(this.#request.source)
    return this.#usage.chunks()
  }

  isComplete(): boolean {
    return this.#usage.isKnown && this.#isComplete(false)
  }

  /** Decides as for a chat: some servers leave `[DONE]` out. */
  #isComplete(sawDone: boolean): boolean {
    const choices = [...this.#finished.values()]
    const { answers = 1 } = this.#request
    return choices.length >= (sawDone ? 1 : answers) && choices.every(Boolean)
  }

  cut(maxTokens: number): string[] {
    const { identity } = this.#request
    const running = [...this.#finished].filter(([, hasFinished]) => !hasFinished)
    const chunks = running.map(([index]) => {
      this.#finished.set(index, true)
      const choice = { text: '', index, logprobs: null, finish_reason: 'length' }
      return JSON.stringify({ ...identity, choices: [choice] })
    })
    return [...chunks, ...this.#usage.cut(maxTokens)]
  }

  tokensAtLeast(): number {
    return this.#usage.size.tokensAtLeast
  }

  usage(): Usage {
    return this.#usage.total()
  }
}

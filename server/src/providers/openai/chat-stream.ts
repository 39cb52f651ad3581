import { ChoiceDeltas } from './choice-deltas'
import {
  limitChoices,
  readChoices,
  StreamUsage,
  without,
  type RelayedStream,
  type RelayRequest,
} from './relayed-stream'
import { readEvent } from '../event'
import { truncatedAnswer, toFailure, unnamedCall } from '../upstream-error'
import { readSourceAnnotations } from '../../wire/annotations'
import { stripForeignFields } from '../../wire/hidden-cache'
import type { JsonObject } from '../../wire/json-body'
import type { Usage } from '../../wire/usage'

const chunkFields: ReadonlySet<string> = new Set([
  'error',
  'usage',
  'x_groq',
  'choices',
  'obfuscation',
])
const choiceFields = new Set(['index', 'delta', 'finish_reason', 'error'])

const soleChoice = ({ choices }: JsonObject) => Array.isArray(choices) && choices.length === 1

/** Relays one stream of chat completion chunks. Source: contract 4.3, 12.5. */
export class ChatStream implements RelayedStream {
  readonly #request: RelayRequest
  readonly #usage: StreamUsage
  readonly #choices = new Map<number, ChoiceDeltas>()
  /** The number of choices that have finished. */
  #finished = 0
  hasOutput = false

  constructor(request: RelayRequest) {
    this.#request = request
    this.#usage = new StreamUsage(request)
  }

  next(data: string): string[] {
    const chunk = readEvent(data, this.#request.source)
    this.#usage.record(chunk)
    if (this.#request.hidesCachedTokens) stripForeignFields(chunk)
    const chunks: string[] = []
    for (const choice of readChoices(chunk, this.#request.source))
      this.#relay(chunk, choice, chunks)
    return chunks
  }

  #relay(chunk: JsonObject, theirs: JsonObject, chunks: string[]): void {
    const index = Number.isInteger(theirs['index']) ? Number(theirs['index']) : 0
    const choice = this.#choiceAt(index)
    if (choice.finished) return
    if (choice.isPlain(theirs) && soleChoice(chunk)) {
      this.hasOutput = true
      chunks.push(this.#rewrite(chunk, theirs))
      return
    }
    const { deltas, finish, failed } = choice.next(theirs)
    if (failed) {
      this.#usage.dropLast()
      throw toFailure(chunk, this.#request.source)
    }
    if (finish) this.#noteFinish(choice)
    this.hasOutput ||= finish !== null || deltas.some((delta) => !('role' in delta))

    const steps = deltas.map((delta) => ({ delta, finish_reason: null as string | null }))
    if (finish) {
      const annotations = choice.hasAnnotations ? [] : readSourceAnnotations(chunk)
      if (annotations.length > 0) steps.push({ delta: { annotations }, finish_reason: null })
      steps.push({ delta: {}, finish_reason: finish })
    }
    const head = { ...without(chunk, chunkFields), ...this.#request.identity }
    const last = steps.length - 1
    for (const [position, { delta, finish_reason }] of steps.entries()) {
      // Fields beside the delta, log probabilities above all, are sent once.
      const beside = position === last ? without(theirs, choiceFields) : undefined
      const choices = [{ index, delta, logprobs: null, ...beside, finish_reason }]
      chunks.push(JSON.stringify({ ...head, choices }))
    }
  }

  #noteFinish({ hasUnnamedCall }: ChoiceDeltas): void {
    if (hasUnnamedCall) throw unnamedCall(this.#request.source)
    this.#finished += 1
  }

  /** Nearly all chunks are a piece of text and nothing else: those are changed in place. */
  #rewrite(chunk: JsonObject, theirs: JsonObject): string {
    for (const name of chunkFields) if (name !== 'choices') chunk[name] = undefined
    if (theirs['logprobs'] === undefined) theirs['logprobs'] = null
    theirs['finish_reason'] = null
    return JSON.stringify(Object.assign(chunk, this.#request.identity))
  }

  #choiceAt(index: number): ChoiceDeltas {
    let choice = this.#choices.get(index)
    if (!choice) {
      const { legacyFunctions } = this.#request
      const { size } = this.#usage
      size.addAround()
      choice = new ChoiceDeltas({ naming: this.#request, legacyFunctions, size })
      this.#choices.set(index, choice)
      limitChoices(this.#choices.size, this.#request)
    }
    return choice
  }

  end(sawDone: boolean): string[] {
    const isWhole = sawDone ? this.hasOutput : this.isFinished
    if (!isWhole) throw truncatedAnswer(this.#request.source)
    const chunks = sawDone ? this.#finishRunning() : []
    chunks.push(...this.#usage.chunks())
    return chunks
  }

  /** Finishes the choices whose provider gave no reason, and said that nothing follows. */
  #finishRunning(): string[] {
    const chunks: string[] = []
    if (this.#finished === this.#choices.size) return chunks
    const finish_reason = this.#usage.unstatedReason
    for (const [index, choice] of this.#choices) {
      if (!choice.finished) this.#relay({}, { index, delta: {}, finish_reason }, chunks)
    }
    return chunks
  }

  isComplete(): boolean {
    return this.#usage.isKnown && this.isFinished
  }

  /** Some servers leave `[DONE]` out: then every requested choice has to have finished. */
  get isFinished(): boolean {
    const { answers = 1 } = this.#request
    return this.#finished >= answers && this.#finished === this.#choices.size
  }

  cut(maxTokens: number): string[] {
    const { identity } = this.#request
    const running = [...this.#choices].filter(([, { finished }]) => !finished)
    const last = running.flatMap(([index, choice]) => {
      const steps = choice.cut().map((delta) => ({ delta, finish_reason: null as string | null }))
      steps.push({ delta: {}, finish_reason: 'length' })
      return steps.map((step) => ({ index, logprobs: null, ...step }))
    })
    const chunks = last.map((choice) => JSON.stringify({ ...identity, choices: [choice] }))
    return [...chunks, ...this.#usage.cut(maxTokens)]
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

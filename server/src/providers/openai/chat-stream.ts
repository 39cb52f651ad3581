import { ChoiceDeltas } from './choice-deltas'
import {
  readChoices,
  StreamUsage,
  without,
  type RelayedStream,
  type RelayRequest,
} from './relayed-stream'
import { readEvent } from '../event'
import { truncatedAnswer, toFailure } from '../upstream-error'
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
      chunks.push(this.#rewrite(chunk, theirs))
      return
    }
    const { deltas, finish, failed } = choice.next(theirs)
    if (failed) throw toFailure(chunk, this.#request.source)

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
      const { newCallId, callerNames, legacyFunctions } = this.#request
      this.#usage.size.addAround()
      choice = new ChoiceDeltas({
        newCallId,
        callerNames,
        legacyFunctions,
        size: this.#usage.size,
      })
      this.#choices.set(index, choice)
    }
    return choice
  }

  end(sawDone: boolean): string[] {
    if (!this.#isComplete(sawDone)) throw truncatedAnswer(this.#request.source)
    return this.#usage.chunks()
  }

  isComplete(): boolean {
    return this.#usage.isKnown && this.#isComplete(false)
  }

  /** Some servers leave `[DONE]` out: then every requested choice has to have finished. */
  #isComplete(sawDone: boolean): boolean {
    const choices = [...this.#choices.values()]
    const { answers = 1 } = this.#request
    return choices.length >= (sawDone ? 1 : answers) && choices.every(({ finished }) => finished)
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
}

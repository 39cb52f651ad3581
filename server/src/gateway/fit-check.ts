import type { GatewayPorts } from './ports'
import type { Model } from '../catalog/model'
import { invalidRequest } from '../errors'
import { estimateTexts, tokensAtLeast, maxTokensOf } from '../metering/estimate'
import {
  checkContext,
  checkOutputLimit,
  fitsSurely,
  getOutputLimit,
  type PromptSize,
} from '../limits/prompt-size'
import type { JsonObject } from '../wire/json-body'

const countingMs = 1000

const bounds = { maxTokens: maxTokensOf, atLeast: tokensAtLeast }

/** The check of one request against any number of models; its tokens are counted at most once. */
export class FitCheck {
  readonly size: PromptSize
  readonly #bytes: number
  readonly #counter: Pick<GatewayPorts['counter'], 'count'>
  #counting: Promise<number | undefined> | undefined

  constructor(
    size: PromptSize,
    bytes: number,
    { counter }: { counter: Pick<GatewayPorts['counter'], 'count'> },
  ) {
    this.size = size
    this.#bytes = bytes
    this.#counter = counter
  }

  /**
   * Checks that the request fits a model; a promise only where its tokens have to be counted. Throws or rejects with
   * `max_tokens_exceeded` and `context_length_exceeded`.
   */
  check(model: Model): undefined | Promise<void> {
    const output = getOutputLimit(model, this.size)
    checkOutputLimit(model, { output })
    const { tokens } = this.size
    // Nearly all requests end here.
    if (fitsSurely(model, { output, tokens, bytes: this.#bytes }, bounds)) return undefined
    return this.#checkContext(model, output)
  }

  #checkContext(model: Model, output: PromptSize['output']): Promise<void> {
    const prompt = { ...this.size, output, bytes: this.#bytes }
    return checkContext(model, prompt, {
      ...bounds,
      estimate: estimateTexts,
      count: (texts) => (this.#counting ??= this.#counter.count(texts, { deadlineMs: countingMs })),
    })
  }
}

/** Throws where a request wants embeddings with more dimensions than the model has. */
export function checkDimensions({ id, dimensions }: Model, body: JsonObject): void {
  const requestedDimensions = body['dimensions']
  if (
    typeof requestedDimensions !== 'number' ||
    dimensions === null ||
    requestedDimensions <= dimensions
  )
    return
  const message = `dimensions: "${id}" supports at most ${dimensions}.`
  throw invalidRequest('dimensions', 'out_of_range', message)
}

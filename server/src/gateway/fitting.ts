import type { Ports } from './job'
import type { Model } from '../catalog/model'
import { ApiError, invalidRequest } from '../errors'
import { estimateTexts, tokensAtLeast, tokensAtMost } from '../metering/estimate'
import {
  checkContext,
  checkOutputLimit,
  fitsSurely,
  outputLimitFor,
  type PromptSize,
} from '../policy/size'
import type { TokenNeed } from '../policy/token-need'
import type { Demands } from '../routing/collections'
import { needsOf } from '../routing/needs'
import type { JsonObject } from '../wire/json-body'

const countingMs = 1000

const bounds = { atMost: tokensAtMost, atLeast: tokensAtLeast }

/**
 * Whether a request fits a model; a promise only where its tokens have to be counted. Throws or rejects with
 * `max_tokens_exceeded` and `context_length_exceeded`.
 */
export type Fits = (model: Model) => undefined | Promise<void>

/** Judges one request by any number of models; its tokens are counted once, where at all. */
export function fitting(
  size: PromptSize,
  bytes: number,
  { counter }: { counter: Pick<Ports['counter'], 'count'> },
): Fits {
  let counting: Promise<number | undefined> | undefined
  return (model) => {
    const prompt = { ...size, output: outputLimitFor(model, size), bytes }
    checkOutputLimit(model, prompt)
    // Here nearly all end.
    if (fitsSurely(model, prompt, bounds)) return undefined
    return checkContext(model, prompt, {
      ...bounds,
      estimate: estimateTexts,
      count: (texts) => (counting ??= counter.count(texts, { deadlineMs: countingMs })),
    })
  }
}

/** Throws where an embedding is to have more numbers than the model's have. */
export function checkDimensions({ id, dimensions }: Model, body: JsonObject): void {
  const asked = body['dimensions']
  if (typeof asked !== 'number' || dimensions === null || asked <= dimensions) return
  const words = `dimensions: "${id}" has ${dimensions} at most.`
  throw invalidRequest('dimensions', 'out_of_range', words)
}

interface Demanding {
  body: JsonObject
  fits: Fits
  need: () => TokenNeed
}

/** What a request asks of a collection's members. */
export const demandsOf = ({ body, fits, need }: Demanding): Demands => ({
  promptTokens: () => need().promptTokens,
  needs: needsOf(body),
  misfit(model) {
    try {
      checkDimensions(model, body)
      return fits(model)?.then(() => undefined, asMisfit)
    } catch (thrown) {
      return asMisfit(thrown)
    }
  },
})

function asMisfit(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}

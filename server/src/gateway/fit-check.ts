import type { GatewayPorts } from './ports'
import type { RankingUse } from '../catalog/comparable-price'
import type { Model } from '../catalog/model'
import { expectApiError, invalidRequest } from '../errors'
import { estimateTexts, tokensAtLeast, maxTokensOf } from '../metering/estimate'
import {
  checkContext,
  checkOutputLimit,
  fitsSurely,
  getOutputLimit,
  type PromptSize,
} from '../limits/prompt-size'
import type { TokenNeed } from '../limits/token-need'
import type { Demands } from '../routing/collections'
import { findRequestNeeds } from '../routing/needs'
import type { JsonObject } from '../wire/json-body'

const countingMs = 1000

const bounds = { maxTokens: maxTokensOf, atLeast: tokensAtLeast }

/**
 * Checks that a request fits a model; a promise only where its tokens have to be counted. Throws or rejects with
 * `max_tokens_exceeded` and `context_length_exceeded`.
 */
export type Fits = (model: Model) => undefined | Promise<void>

/** Creates the check of one request against any number of models; its tokens are counted at most once. */
export function createFitCheck(
  size: PromptSize,
  bytes: number,
  { counter }: { counter: Pick<GatewayPorts['counter'], 'count'> },
): Fits {
  let counting: Promise<number | undefined> | undefined
  return (model) => {
    const prompt = { ...size, output: getOutputLimit(model, size), bytes }
    checkOutputLimit(model, prompt)
    // Nearly all requests end here.
    if (fitsSurely(model, prompt, bounds)) return undefined
    return checkContext(model, prompt, {
      ...bounds,
      estimate: estimateTexts,
      count: (texts) => (counting ??= counter.count(texts, { deadlineMs: countingMs })),
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

interface DemandingRequest {
  body: JsonObject
  fits: Fits
  need: () => TokenNeed
  ranking?: (() => RankingUse) | undefined
}

/** The demands of a request on a collection's members. */
export const demandsOf = ({ body, fits, need, ranking }: DemandingRequest): Demands => ({
  promptTokens: () => need().promptTokens,
  ranking,
  needs: findRequestNeeds(body),
  misfit(model) {
    try {
      checkDimensions(model, body)
      return fits(model)?.then(() => undefined, expectApiError)
    } catch (thrown) {
      return expectApiError(thrown)
    }
  },
})

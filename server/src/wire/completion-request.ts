import { z } from 'zod'
import {
  countField,
  maybe,
  logitBias,
  modelField,
  outputLimit,
  penaltyFields,
  samplingFields,
  stopField,
  streamFields,
  tokenIds,
  userField,
} from './fields'
import { toSparse } from './sparse'

const PromptText = z.string().min(1)

/** One prompt as text, several, one as token ids, or several as token ids. */
const Prompt = z.union([
  PromptText,
  z.array(PromptText).min(1).max(128),
  tokenIds,
  z.array(tokenIds).min(1).max(128),
])

/** `POST /v1/completions`. Source: contract 4.4. */
export const CompletionRequest = toSparse(
  z.looseObject({
    model: modelField,
    prompt: Prompt,
    max_tokens: outputLimit,
    ...samplingFields,
    stop: stopField,
    n: countField,
    ...penaltyFields,
    seed: maybe(z.int()),
    user: userField,
    logit_bias: logitBias,
    ...streamFields,
    echo: maybe(z.boolean()),
    logprobs: maybe(z.int().min(0).max(5)),
    suffix: maybe(z.string()),
    best_of: maybe(z.int().min(0).max(20)),
  }),
)
export type CompletionRequest = z.output<typeof CompletionRequest>

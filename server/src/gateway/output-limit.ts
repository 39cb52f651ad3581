import type { Model } from '../catalog/model'
import type { Translation } from '../protocols/dialect'
import { getOutputLimit } from '../limits/prompt-size'
import { readOutputLimit, withOutputLimit } from '../providers/openai/request'
import type { JsonObject } from '../wire/json-body'

/** The format that may lower the output limit of a request to its model's maximum. */
export type Lowering = Pick<Translation, 'lowersOutput'> | undefined

/** A request body within the model's output limit; the same object where its limit need not be lowered. */
export function withModelsOutput(body: JsonObject, model: Model, lowering: Lowering): JsonObject {
  if (!lowering?.lowersOutput) return body
  const output = readOutputLimit(body)
  const limit = getOutputLimit(model, { output, lowersOutput: lowering.lowersOutput })?.limit
  return limit === output?.limit ? body : withOutputLimit(body, limit)
}

interface LimitedAttempt {
  model: Model
  body: JsonObject
  request: { body: JsonObject; translation?: Lowering }
}

/** The output limit that was sent to the model in place of the caller's; undefined where the caller's held. */
export function getLoweredOutput({ model, body, request }: LimitedAttempt): number | undefined {
  const loweredBody = withModelsOutput(request.body, model, request.translation)
  return loweredBody === request.body ? undefined : readOutputLimit(body)?.limit
}

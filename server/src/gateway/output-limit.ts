import type { Model } from '../catalog/model'
import type { Translation } from '../protocols/dialect'
import { getOutputLimit } from '../policy/size'
import { readOutputLimit, withOutputLimit } from '../providers/openai/request'
import type { JsonObject } from '../wire/json-body'

/** Who may lower the output limit of a request to what a model produces. */
export type Lowering = Pick<Translation, 'lowersOutput'> | undefined

/** A request body as a model can be asked; the same object where its output limit need not be lowered. */
export function withModelsOutput(body: JsonObject, model: Model, lowering: Lowering): JsonObject {
  if (!lowering?.lowersOutput) return body
  const output = readOutputLimit(body)
  const limit = getOutputLimit(model, { output, lowersOutput: lowering.lowersOutput })?.limit
  return limit === output?.limit ? body : withOutputLimit(body, limit)
}

interface Asked {
  model: Model
  body: JsonObject
  checked: { body: JsonObject; translation?: Lowering }
}

/** The output limit that a model was asked for in place of the caller's; undefined where that one held. */
export function getLoweredOutput({ model, body, checked }: Asked): number | undefined {
  const lowered = withModelsOutput(checked.body, model, checked.translation)
  return lowered === checked.body ? undefined : readOutputLimit(body)?.limit
}

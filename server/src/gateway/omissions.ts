import type { RequestAttempt } from './attempt'
import type { Model } from '../catalog/model'
import { strippedFrom } from '../metering/unpriced-fields'
import { omittedOf } from '../providers/omitted-fields'
import type { JsonObject } from '../wire/json-body'

/**
 * The omitted fields to report to the caller: those without a price, those that a shared credential does not pass, and
 * `provider`, those that the provider does not get.
 */
export function reportOmissions<Params>(
  { request, body, model, withheld }: RequestAttempt<Params>,
  provider = noFields,
): readonly string[] {
  const { translation, body: requestedBody } = request
  const stripped = strippedFrom(requestedBody, body)
  if (!translation) {
    const own = joinFields(stripped, provider)
    // A field may have no price, and no place on a shared credential either.
    return withheld ? [...new Set([...own, ...withheld])] : own
  }
  const { omitted = [], callersField = (param: string) => param } = translation
  const isKnown = withKnownFields(requestedBody, model) === requestedBody
  const unknownFields = isKnown ? [] : omittedOf(requestedBody, ['reasoning_effort'])
  const fields = [...stripped, ...unknownFields, ...provider].map(callersField)
  // Several fields of the chat may be one of the caller's.
  return fields.length > 1 ? [...omitted, ...new Set(fields)] : [...omitted, ...fields]
}

const noFields: readonly string[] = []

/** Joins two lists, of which one is empty for nearly all requests. */
const joinFields = (one: readonly string[], other: readonly string[]): readonly string[] =>
  one.length === 0 ? other : [...one, ...other]

/** A level of thinking is a wish: a model that does not think would reject the field. */
export function withKnownFields(chat: JsonObject, { capabilities }: Model): JsonObject {
  if (capabilities.reasoning || chat['reasoning_effort'] === undefined) return chat
  const { reasoning_effort: _effort, ...rest } = chat
  return rest
}

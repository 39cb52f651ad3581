import { isObject, type JsonObject, type ReadBody } from '../wire/json-body'

/** The fields of a further gateway that name models beside the one of a request. */
const modelFields = ['model', 'models', 'fallbacks'] as const

/** A request that names no model but its own, and the fields that were left out for that. */
interface SingleModelRequest {
  readBody: ReadBody
  omittedFields: readonly string[]
}

/** Whether a request may name other models to a gateway behind a connection. */
export const mayNameOtherModels = (body: JsonObject, hasLists: boolean): boolean =>
  'extra_body' in body || (hasLists && 'fallbacks' in body)

/**
 * Leaves out what names other models to a gateway behind an account's own connection: the model that is checked, held
 * and charged is the one that is called. `fallbacks` are left out where lists of the key say what it may call.
 */
export function omitOtherModels(requestBody: ReadBody, hasLists: boolean): SingleModelRequest {
  const { extra_body: extraBody, fallbacks, ...rest } = requestBody.body
  const omittedFields: string[] = []
  const body: JsonObject = rest
  if (fallbacks !== undefined && hasLists) omittedFields.push('fallbacks')
  else if (fallbacks !== undefined) body['fallbacks'] = fallbacks
  if (isObject(extraBody)) {
    const ownFields = { ...extraBody }
    for (const name of modelFields) {
      if (!(name in ownFields)) continue
      delete ownFields[name]
      omittedFields.push(`extra_body.${name}`)
    }
    if (Object.keys(ownFields).length > 0) body['extra_body'] = ownFields
  } else if (extraBody !== undefined) {
    body['extra_body'] = extraBody
  }
  return { readBody: { ...requestBody, body }, omittedFields }
}

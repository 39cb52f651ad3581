import type { RelayRequest } from '../openai/relayed-stream'
import { withoutResponseCache } from '../../wire/hidden-cache'
import { isObject, type JsonObject } from '../../wire/json-body'

/** Identifiers that a Response repeats. */
const names = ['user', 'safety_identifier', 'prompt_cache_key'] as const

/**
 * Returns the fields of a Response that its caller sees otherwise than its provider sent them: the identifiers that the
 * caller gave, and counts of a cache.
 */
export function toCallersFields(
  response: JsonObject,
  { namedByCaller, hidesCachedTokens }: Pick<RelayRequest, 'namedByCaller' | 'hidesCachedTokens'>,
): JsonObject {
  const fields: JsonObject = {}
  if (namedByCaller) {
    for (const name of names) if (name in response) fields[name] = namedByCaller[name] ?? null
  }
  const { usage } = response
  if (hidesCachedTokens && isObject(usage)) fields['usage'] = withoutResponseCache(usage)
  return fields
}

import { toFailure, invalidAnswer, type ErrorSource } from './upstream-error'
import { isObject, type JsonObject } from '../wire/json-body'
import { eventShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'

/** An event's `data` as an object. Throws for an error in its place, and for anything else. */
export function readEvent(data: string, source: ErrorSource): JsonObject {
  let event: unknown
  try {
    event = parseShaped(data, eventShape)
  } catch (cause) {
    throw invalidAnswer(source.provider, 'an unreadable chunk', cause)
  }
  if (!isObject(event)) throw invalidAnswer(source.provider, 'a chunk that is not an object')
  if (isFailure(event)) throw toFailure(event, source)
  return event
}

/** Takes the nulls out of an object: some services write one for each field that may be absent. */
export function dropNulls(value: unknown): void {
  if (!isObject(value)) return
  for (const name in value) if (value[name] === null) delete value[name]
}

/** Returns whether an answer is an error inside a 200: an error object, or MiniMax's own form. */
export function isFailure(body: JsonObject): boolean {
  const base = body['base_resp']
  return Boolean(body['error']) || (isObject(base) && Boolean(base['status_code']))
}

import { createHash } from 'node:crypto'
import { invalidRequest } from '../errors'
import type { ChatMessage } from '../wire/chat-request'
import { checkNesting, isObject, type JsonObject } from '../wire/json-body'
import { bodyShape, ShapeExceeded } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'
import { unpackCallId } from '../wire/packed-call-id'

export type ContentPart = Exclude<NonNullable<ChatMessage['content']>, string>[number]
type ToolCall = NonNullable<ChatMessage['tool_calls']>[number]

/**
 * A tool-call id that a provider accepts: the same for a call and for its result, whatever made it,
 * and different for different ids. Source: contract 12.2.
 */
export function toFittingId(id: string, accepted: RegExp): string {
  const plain = unpackCallId(id)
  if (accepted.test(plain)) return plain
  return `call_${createHash('sha256').update(plain).digest('hex').slice(0, 32)}`
}

/**
 * Parses the arguments of a call in the history, for dialects that want an object. `path` is the call's.
 * Throws `invalid_request` for text that is none, and for content that no body may hold either.
 */
export function parseArguments({ function: called }: ToolCall, path: string): JsonObject {
  const text = called.arguments.trim()
  if (text === '' || text === 'null') return {}
  const param = `${path}.function.arguments`
  let value: unknown
  try {
    value = parseShaped(text, bodyShape)
  } catch (thrown) {
    if (thrown instanceof ShapeExceeded) {
      throw invalidRequest(param, 'too_many', `${param}: ${thrown.message}.`)
    }
    throw invalidRequest(param, 'invalid_json', `${param}: must be JSON text.`)
  }
  if (!isObject(value)) {
    throw invalidRequest(param, 'wrong_type', `${param}: must be the JSON text of an object.`)
  }
  checkNesting(value, param)
  return value
}

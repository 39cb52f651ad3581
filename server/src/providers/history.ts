import { createHash } from 'node:crypto'
import { invalidRequest } from '../errors'
import { firstValueIn, isAbsent, toCallInput } from '../wire/call-arguments'
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
 * Parses the arguments of a call in the history, for dialects that want an object. `path` is the call's. Text that is no
 * JSON object, as models write it now and then, becomes one that shows it, and `omit` gets its field: the conversation
 * goes on. Throws `invalid_request` for content that no body may hold.
 */
export function parseArguments(
  { function: calledFunction }: ToolCall,
  path: string,
  omit: (field: string) => void,
): JsonObject {
  if (isAbsent(calledFunction.arguments)) return {}
  const text = calledFunction.arguments.trim()
  const param = `${path}.function.arguments`
  const value = parse(text, param)
  if (!isObject(value)) omit(param)
  const input = isObject(value) ? value : toCallInput(firstValueIn(text), bodyShape)
  checkNesting(input, param)
  return input
}

/** The JSON value of a text; undefined where it is none. Throws `invalid_request` for one that is too large. */
function parse(text: string, param: string): unknown {
  try {
    return parseShaped(text, bodyShape)
  } catch (thrown) {
    if (!(thrown instanceof ShapeExceeded)) return undefined
    throw invalidRequest(param, 'too_many', `${param}: ${thrown.message}.`)
  }
}

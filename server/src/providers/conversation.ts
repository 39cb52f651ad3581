import { invalidRequest } from '../errors'
import type { ChatRequest } from '../wire/chat-request'
import { isObject, type JsonObject } from '../wire/json-body'

type Message = ChatRequest['messages'][number]
export type ContentPart = Exclude<NonNullable<Message['content']>, string>[number]

/** One part of a message, and where the caller wrote it. */
export interface Piece {
  part: ContentPart
  param: string
}

/** A call of a tool in the history, its arguments as the object that they are. */
export interface PastCall {
  id: string
  name: string
  input: JsonObject
}

/** A message of the history: parts whatever its form was, blank texts left out, calls parsed. */
export type Turn =
  | { role: 'system' | 'user'; pieces: Piece[] }
  | { role: 'assistant'; pieces: Piece[]; calls: PastCall[]; details: JsonObject[] }
  /** `name` is that of the tool that was called. */
  | { role: 'tool'; callId: string; name: string; pieces: Piece[] }

/** A request asks for what a model or its dialect cannot do. */
export const unsupported = (param: string, message: string) =>
  invalidRequest(param, 'unsupported_by_model', message)

/**
 * The history of a chat request. Throws `invalid_request` for arguments that are no JSON object and
 * for a result whose call is missing. Source: wire.md 7.1.
 */
export function toTurns({ messages }: ChatRequest): Turn[] {
  const calls = new Calls()
  return messages.map((message, index) => toTurn(message, { param: `messages.${index}`, calls }))
}

/** The calls so far. Those of the older form have no ids: each is followed by its result. */
class Calls {
  readonly #names = new Map<string, string>()
  #older = 0

  get olderId(): string {
    return `call_${this.#older}`
  }

  add({ id, name }: PastCall): void {
    this.#names.set(id, name)
  }

  addOlder(called: ToolCall['function']): ToolCall {
    this.#older += 1
    return { id: this.olderId, type: 'function', function: called }
  }

  nameOf(id: string): string | undefined {
    return this.#names.get(id)
  }
}

/** Where a message stands, and the calls before it. */
interface Place {
  param: string
  calls: Calls
}

function toTurn(message: Message, place: Place): Turn {
  const { role } = message
  const pieces = toPieces(message, place.param)
  if (role === 'user') return { role, pieces }
  if (role === 'assistant') return { role, pieces, ...saidBeside(message, place) }
  if (role === 'system' || role === 'developer') return { role: 'system', pieces }
  const callId = role === 'function' ? place.calls.olderId : (message.tool_call_id ?? '')
  const name = place.calls.nameOf(callId)
  if (name === undefined) {
    const words = `no call before this message has the id "${callId}".`
    throw invalidRequest(`${place.param}.tool_call_id`, 'unknown_value', words)
  }
  return { role: 'tool', callId, name, pieces }
}

function saidBeside(message: Message, { param, calls }: Place) {
  const older = message.function_call
  const given = message.tool_calls ?? (older ? [calls.addOlder(older)] : [])
  const said = given.map((call, at) => {
    const field = given !== message.tool_calls ? 'function_call' : `tool_calls.${at}.function`
    return toCall(call, `${param}.${field}.arguments`)
  })
  for (const call of said) calls.add(call)
  const details: unknown = message['reasoning_details']
  return { calls: said, details: Array.isArray(details) ? details.filter(isObject) : [] }
}

function toPieces({ content, role, ...rest }: Message, param: string): Piece[] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  const pieces = (parts ?? []).map((part, index) => ({
    part,
    param: Array.isArray(content) ? `${param}.content.${index}` : `${param}.content`,
  }))
  const refusal: unknown = rest['refusal']
  if (role === 'assistant' && typeof refusal === 'string') {
    pieces.push({ part: { type: 'refusal', refusal }, param: `${param}.refusal` })
  }
  return pieces.filter(({ part }) => textOf(part)?.trim() !== '')
}

type ToolCall = NonNullable<Message['tool_calls']>[number]

function toCall({ id, function: called }: ToolCall, param: string): PastCall {
  const input = parsed(called.arguments)
  if (!isObject(input)) {
    throw invalidRequest(param, 'invalid_json', 'the arguments are not a JSON object.')
  }
  return { id, name: called.name, input }
}

function parsed(text: string): unknown {
  // Some providers write nothing, or `null`, for no arguments.
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return undefined
  }
}

/** What a part says in words; undefined for a part that is none. */
export function textOf(part: ContentPart): string | undefined {
  if (part.type === 'text') return part.text
  return part.type === 'refusal' ? part.refusal : undefined
}

/** The words of a message whose dialect has room for nothing else. Throws for any other part. */
export const wordsOf = (pieces: readonly Piece[], where: string): string =>
  pieces
    .map(({ part, param }) => {
      const words = textOf(part)
      if (words === undefined) throw unsupported(param, `${where} is text only with this model.`)
      return words
    })
    .join('\n')

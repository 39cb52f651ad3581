import { parseArguments, type ContentPart } from './history'
import { unsupported } from './unsupported-fields'
import { invalidRequest } from '../errors'
import { readCacheControl, readLastCacheControl, type CacheControl } from '../wire/cache-control'
import type { ChatRequest, ChatMessage } from '../wire/chat-request'
import type { JsonObject } from '../wire/json-body'
import { joinDetails } from '../wire/reasoning-details'

/** One part of a message, and its position in the caller's request. */
export interface Piece {
  part: ContentPart
  param: string
}

/** A call of a tool in the history, its arguments as the object that they are. */
export interface PastCall {
  id: string
  name: string
  input: JsonObject
  /** The breakpoint of a prompt cache behind it. */
  cacheControl?: CacheControl
}

/** A message of the history: parts whatever its form was, blank texts left out, calls parsed. */
export type HistoryTurn =
  | { role: 'system' | 'user'; pieces: Piece[] }
  | { role: 'assistant'; pieces: Piece[]; calls: PastCall[]; details: JsonObject[] }
  /** `name` is that of the tool that was called. */
  | { role: 'tool'; callId: string; name: string; pieces: Piece[]; cacheControl?: CacheControl }

/**
 * Returns the history of a chat request; `omit` gets the fields of arguments that are no JSON object. Throws
 * `invalid_request` for a result whose call is missing. Source: contract 12.1.
 */
export function toTurns({ messages }: ChatRequest, omit: (field: string) => void): HistoryTurn[] {
  const names = new Map<string, string>()
  return messages.map((message, index) =>
    toTurn(message, { param: `messages.${index}`, names, omit }),
  )
}

/** The position of a message, and the calls before it: id -> name of the tool. */
interface MessagePosition {
  param: string
  names: Map<string, string>
  omit: (field: string) => void
}

function toTurn(message: ChatMessage, { param, names, omit }: MessagePosition): HistoryTurn {
  const { role } = message
  const pieces = toPieces(message, param)
  if (role === 'user') return { role, pieces }
  if (role === 'system' || role === 'developer') return { role: 'system', pieces }
  if (role === 'assistant') {
    const calls = toCalls(message, { param, omit })
    for (const { id, name } of calls) names.set(id, name)
    return { role, pieces, calls, details: joinDetails(message['reasoning_details']) }
  }
  const callId = message.tool_call_id ?? ''
  const name = names.get(callId)
  if (name === undefined) {
    const field = `${param}.tool_call_id`
    throw invalidRequest(field, 'unknown_value', `${field}: no earlier message has this call.`)
  }
  const cacheControl = readLastCacheControl(message)
  return { role: 'tool', callId, name, pieces, ...(cacheControl && { cacheControl }) }
}

function toCalls(
  message: ChatMessage,
  { param, omit }: Pick<MessagePosition, 'param' | 'omit'>,
): PastCall[] {
  const calls = message.tool_calls ?? []
  return calls.map((call, at) => {
    // The breakpoint of a whole message stands behind the last of its calls.
    const marked = readCacheControl(call) ?? (at === calls.length - 1 && readCacheControl(message))
    return {
      id: call.id,
      name: call.function.name,
      input: parseArguments(call, `${param}.tool_calls.${at}`, omit),
      ...(marked && { cacheControl: marked }),
    }
  })
}

function toPieces({ content, role, ...rest }: ChatMessage, param: string): Piece[] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  const pieces = (parts ?? []).map((part, index): Piece => ({
    part,
    param: Array.isArray(content) ? `${param}.content.${index}` : `${param}.content`,
  }))
  const refusal: unknown = rest['refusal']
  if (role === 'assistant' && typeof refusal === 'string') {
    pieces.push({ part: { type: 'refusal', refusal }, param: `${param}.refusal` })
  }
  const nonEmpty = pieces.filter(({ part }) => getPartText(part)?.trim() !== '')
  const control = rest.tool_calls?.length ? undefined : readCacheControl(rest)
  const last = nonEmpty.at(-1)
  if (control && last) last.part = { ...last.part, cache_control: control }
  return nonEmpty
}

/** Returns the text of a part; undefined for a part that is none. */
export function getPartText(part: ContentPart): string | undefined {
  if (part.type === 'text') return part.text
  return part.type === 'refusal' ? part.refusal : undefined
}

/** The words of a message where there is room for nothing else. Throws for any other part. */
export const textOf = (pieces: readonly Piece[]): string =>
  pieces
    .map(({ part, param }) => {
      const partText = getPartText(part)
      if (partText === undefined) throw unsupported(param, 'Only text is allowed here.')
      return partText
    })
    .join('\n')

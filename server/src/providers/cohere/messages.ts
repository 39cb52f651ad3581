import {
  getPartText,
  toTurns,
  textOf,
  type PastCall,
  type Piece,
  type HistoryTurn,
} from '../conversation'
import { unsupported } from '../unsupported-fields'
import { invalidRequest } from '../../errors'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'
import { unpackCallId } from '../../wire/packed-call-id'

/** The messages of a chat request; empty ones are left out. `omit` gets the fields of arguments that are no JSON object. */
export function toMessages(chat: ChatRequest, omit: (field: string) => void): JsonObject[] {
  const messages = toTurns(chat, omit).flatMap(toMessage)
  if (messages.length > 0) return messages
  throw invalidRequest('messages', 'empty', 'messages: contain no text.')
}

function toMessage(turn: HistoryTurn): JsonObject[] {
  const { role, pieces } = turn
  if (role === 'tool') {
    // Cohere refuses an empty result.
    const content = textOf(pieces) || '(no output)'
    return [{ role, tool_call_id: unpackCallId(turn.callId), content }]
  }
  if (role === 'assistant' && turn.calls.length > 0) {
    const plan = textOf(pieces)
    // Beside calls there is no content; the text before them is their plan.
    return [{ role, ...(plan !== '' && { tool_plan: plan }), tool_calls: turn.calls.map(toCall) }]
  }
  if (pieces.length === 0) return []
  const isText = pieces.every(({ part }) => getPartText(part) !== undefined)
  if (role !== 'user' || isText) return [{ role, content: textOf(pieces) }]
  return [{ role, content: pieces.map(toContent) }]
}

const toCall = ({ id, name, input }: PastCall) => ({
  id: unpackCallId(id),
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
})

function toContent({ part, param }: Piece): JsonObject {
  const text = getPartText(part)
  if (text !== undefined) return { type: 'text', text }
  if (part.type !== 'image_url')
    throw unsupported(param, 'This model accepts text and images only.')
  const { url, detail } = part.image_url
  return { type: 'image_url', image_url: { url, ...(detail && { detail }) } }
}

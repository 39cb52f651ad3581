import type { AdapterTarget } from '../adapter'
import { getPartText, toTurns, textOf, type Piece, type HistoryTurn } from '../conversation'
import { toFittingId } from '../history'
import { unsupported } from '../unsupported-fields'
import { invalidRequest } from '../../errors'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'
import { openAiThoughtFormat } from '../../wire/reasoning-details'

interface Writing extends Pick<AdapterTarget, 'customTools'> {
  sendsThoughts: boolean
  /** Called with the fields of arguments that are no JSON object. */
  omit: (field: string) => void
}

/** A history as items. Thoughts go back, encrypted, unless they are not to be sent. */
export function toInput(chat: ChatRequest, writing: Writing): JsonObject[] {
  const items = toTurns(chat, writing.omit).flatMap((turn) => toItems(turn, writing))
  if (items.length > 0) return items
  throw invalidRequest('messages', 'empty', 'messages: contain no text.')
}

/** The limit is that of ids of their own, which are left out; calls are known by this one. */
export const acceptedIds = /^[a-zA-Z0-9_-]{1,64}$/

function toItems(turn: HistoryTurn, { sendsThoughts, customTools }: Writing): JsonObject[] {
  const { pieces } = turn
  if (turn.role === 'tool') {
    const isText = pieces.every(({ part }) => getPartText(part) !== undefined)
    const output = isText ? textOf(pieces) : pieces.map(toContent)
    const type = customTools?.has(turn.name) ? 'custom_tool_call_output' : 'function_call_output'
    return [{ type, call_id: toFittingId(turn.callId, acceptedIds), output }]
  }
  if (turn.role === 'assistant') {
    const thoughts = sendsThoughts ? turn.details.flatMap(toThought) : []
    // Each by itself: a list of output parts would need the ids of items that are not kept.
    const answers = pieces.map((piece) => ({ role: 'assistant', content: textOf([piece]) }))
    const calls = turn.calls.map(({ id, name, input }) => {
      const call = { call_id: toFittingId(id, acceptedIds), name }
      return customTools?.has(name)
        ? { type: 'custom_tool_call', ...call, input: textOfCustom(input) }
        : { type: 'function_call', ...call, arguments: JSON.stringify(input) }
    })
    const answer = [...answers, ...calls]
    // The provider refuses thoughts without an answer behind them.
    return answer.length > 0 ? [...thoughts, ...answer] : []
  }
  if (pieces.length === 0) return []
  const role = turn.role === 'system' ? 'developer' : 'user'
  const [only, ...others] = pieces
  const text = only && others.length === 0 ? getPartText(only.part) : undefined
  return [{ role, content: text ?? pieces.map(toContent) }]
}

const textOfCustom = ({ input }: JsonObject): string =>
  typeof input === 'string' ? input : JSON.stringify(input ?? '')

function toThought({ format, data, id }: JsonObject): JsonObject[] {
  if (format !== openAiThoughtFormat || typeof data !== 'string') return []
  const idField = typeof id === 'string' ? { id } : {}
  return [{ type: 'reasoning', ...idField, summary: [], encrypted_content: data }]
}

function toContent({ part, param }: Piece): JsonObject {
  const text = getPartText(part)
  if (text !== undefined) return { type: 'input_text', text }
  if (part.type === 'image_url') {
    const { url, detail } = part.image_url
    return { type: 'input_image', image_url: url, detail: detail ?? 'auto' }
  }
  if (part.type !== 'file') throw unsupported(param, 'This model does not accept audio.')
  const { file_data: data, file_id: id, filename } = part.file
  if (!data) return { type: 'input_file', file_id: id }
  const name = typeof filename === 'string' && filename !== '' ? filename : 'file'
  return { type: 'input_file', filename: name, file_data: data }
}

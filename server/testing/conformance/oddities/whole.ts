import { counted, inputOf, joined, type Piece, type Scene } from './scene'
import {
  chatUsage,
  googleEnd,
  googleParts,
  messageReasons,
  thoughtDetails,
  type Dialect,
} from './spoken'
import { itemsOf, responseOf } from './spoken-response'
import type { JsonObject } from '../../../src/wire/json-body'

const isCall = (piece: Piece) => piece.kind === 'call'

/** A whole chat completion of a message. */
export const chatAnswer = (message: JsonObject, finish_reason: string | null): JsonObject => ({
  id: 'x',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage: chatUsage,
})

function openai({ pieces, finish }: Scene): JsonObject {
  const thoughts = pieces.filter((piece) => piece.kind === 'thought')
  const tool_calls = pieces.filter(isCall).map((piece) => ({
    id: piece.id,
    type: 'function',
    function: { name: piece.name, arguments: joined(piece) },
  }))
  const shown = thoughts.map(joined).join('')
  const details = thoughts.flatMap(thoughtDetails)
  const texts = pieces.filter(({ kind }) => kind === 'text')
  const message = {
    content: texts.length > 0 ? texts.map(joined).join('') : null,
    ...(shown !== '' && { reasoning_content: shown }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(tool_calls.length > 0 && { tool_calls }),
  }
  return chatAnswer(message, { stop: 'stop', calls: 'tool_calls', length: 'length' }[finish])
}

function messageBlock(piece: Piece): JsonObject {
  if (piece.kind === 'text') return { type: 'text', text: joined(piece) }
  if (piece.kind === 'call')
    return { type: 'tool_use', id: piece.id, name: piece.name, input: inputOf(piece) }
  const { data, signature = '' } = piece
  if (data !== undefined) return { type: 'redacted_thinking', data }
  return { type: 'thinking', thinking: joined(piece), signature }
}

/** A whole message of blocks. */
export const messageAnswer = (content: readonly JsonObject[], stop_reason: string): JsonObject => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: counted.input, output_tokens: counted.output },
})

const hasBrokenCall = ({ pieces }: Scene) =>
  pieces.some((piece) => isCall(piece) && !inputOf(piece))

/**
 * The whole answer by which each dialect says a scene; undefined where it has none: Tollgate requests only
 * streams of Bedrock and Cohere, and an object has no room for invalid arguments.
 */
export const whole: Record<Dialect, (scene: Scene) => JsonObject | undefined> = {
  openai,
  responses: (scene) => responseOf(itemsOf(scene), scene.finish === 'length'),
  anthropic: (scene) =>
    hasBrokenCall(scene)
      ? undefined
      : messageAnswer(scene.pieces.map(messageBlock), messageReasons[scene.finish]),
  google: (scene) =>
    hasBrokenCall(scene)
      ? undefined
      : googleEnd(
          scene.finish === 'length' ? 'MAX_TOKENS' : 'STOP',
          scene.pieces.flatMap(googleParts),
        ),
  bedrock: () => undefined,
  cohere: () => undefined,
}

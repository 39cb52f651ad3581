import { counted, joined, numbered, type Piece, type Scene } from './scene'
import type { JsonObject } from '../../../src/wire/json-body'

const responseUsage = {
  input_tokens: counted.input,
  output_tokens: counted.output,
  total_tokens: counted.input + counted.output,
}

/** An event of a Response. */
export const event = (type: string, rest: JsonObject): JsonObject => ({
  type: `response.${type}`,
  ...rest,
})

/** An item of the output, as it is when it is done. */
export function itemOf(piece: Piece, at: number): JsonObject {
  const id = `item_${at}`
  if (piece.kind === 'text') {
    const content = [{ type: 'output_text', text: joined(piece), annotations: [] }]
    return { type: 'message', id, role: 'assistant', status: 'completed', content }
  }
  if (piece.kind === 'thought') {
    const { signature, data = signature } = piece
    const shown = joined(piece)
    const summary = shown === '' ? [] : [{ type: 'summary_text', text: shown }]
    return {
      type: 'reasoning',
      id,
      summary,
      ...(data !== undefined && { encrypted_content: data }),
    }
  }
  const { id: call_id, name } = piece
  return { type: 'function_call', id, call_id, name, arguments: joined(piece) }
}

/** The Response as its last event has it. */
export function responseOf(output: readonly JsonObject[], isCut = false): JsonObject {
  const incomplete_details = isCut ? { reason: 'max_output_tokens' } : null
  const status = isCut ? 'incomplete' : 'completed'
  return { id: 'r', object: 'response', status, incomplete_details, output, usage: responseUsage }
}
/** How a Response ends. */
export const responseEnd = (output: readonly JsonObject[], isCut = false): JsonObject =>
  event(isCut ? 'incomplete' : 'completed', { response: responseOf(output, isCut) })

/** How a Response opens. */
export const responseStart = event('created', {
  response: { id: 'r', status: 'in_progress', output: [] },
})

const begun = { text: { content: [] }, thought: { summary: [] }, call: { arguments: '' } }
const deltas = {
  text: 'output_text',
  thought: 'reasoning_summary_text',
  call: 'function_call_arguments',
}

function itemEvents(piece: Piece, output_index: number): JsonObject[] {
  const item = itemOf(piece, output_index)
  const place = { item_id: item['id'], output_index }
  const whole: JsonObject = { ...item, ...begun[piece.kind] }
  const { encrypted_content: _data, ...opening } = whole
  const name = deltas[piece.kind]
  const done = piece.kind === 'call' ? { arguments: joined(piece) } : { text: joined(piece) }
  return [
    event('output_item.added', { output_index, item: opening }),
    ...piece.texts.map((delta) => event(`${name}.delta`, { ...place, delta })),
    ...(piece.texts.length > 0 ? [event(`${name}.done`, { ...place, ...done })] : []),
    event('output_item.done', { output_index, item }),
  ]
}

/** The items of a scene. */
export const itemsOf = (scene: Scene): JsonObject[] =>
  numbered(scene).map(({ piece, position }) => itemOf(piece, position))

/** The stream of a Response, which has all of it once more in its last event. */
export const spokenResponse = (scene: Scene): JsonObject[] => [
  responseStart,
  ...numbered(scene).flatMap(({ piece, position }) => itemEvents(piece, position)),
  responseEnd(itemsOf(scene), scene.finish === 'length'),
]

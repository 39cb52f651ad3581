/** The events of a stream, as `POST /v1/messages` writes them. */
type Json = Record<string, unknown>

export const start = (usage: Json = { input_tokens: 12, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage },
})
export const opened = (index: number, content_block: Json) => ({
  type: 'content_block_start',
  index,
  content_block,
})
export const delta = (index: number, own: Json) => ({
  type: 'content_block_delta',
  index,
  delta: own,
})
export const closed = (index: number) => ({ type: 'content_block_stop', index })
export const textBlock = (index: number, ...texts: string[]) => [
  opened(index, { type: 'text', text: '' }),
  ...texts.map((text) => delta(index, { type: 'text_delta', text })),
  closed(index),
]
export const called = (index: number, id: string, ...pieces: string[]) => [
  opened(index, { type: 'tool_use', id, name: `do_${id}`, input: {} }),
  ...pieces.map((partial_json) => delta(index, { type: 'input_json_delta', partial_json })),
  closed(index),
]
export const revised = (stop_reason: string | null, usage?: Json) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  ...(usage && { usage }),
})
export const stop = { type: 'message_stop' }
export const ending = (stop_reason = 'end_turn', usage: Json = { output_tokens: 5 }) => [
  revised(stop_reason, usage),
  stop,
]

import { eventsOf } from '../../providers/translated/front'
import type { Json } from '../../providers/conformance/fixture'

/** The model that OpenAI relays. */
export const model = 'openai/gpt-6-astra'
/** The path of Responses. */
export const path = '/v1/responses'
/** The usage of each answer. */
export const usage = { input_tokens: 100, output_tokens: 30, total_tokens: 130 }
/** What each Response begins with. */
export const head = { id: 'resp_theirs', object: 'response', model: 'gpt-6-astra-2026' }

/** The one item of an answer. */
export const item = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Hello.' }],
}
/** Returns a stream of events with their numbers. */
export const numbered = (events: readonly Json[]) =>
  eventsOf(...events.map((event, sequence_number) => ({ ...event, sequence_number })))
/** The first event of a stream. */
export const created = {
  type: 'response.created',
  response: { ...head, status: 'in_progress', output: [] },
}
/** The text of the item. */
export const delta = {
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  delta: 'Hello.',
  logprobs: [],
}
/** The events before the end of the item. */
export const opening = [
  created,
  { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
  delta,
]
/** The last event of a stream. */
export const completed = {
  type: 'response.completed',
  response: { ...head, status: 'completed', output: [item], usage },
}
/** Returns the stream of a whole answer. */
export const hello = () =>
  numbered([...opening, { type: 'response.output_item.done', output_index: 0, item }, completed])

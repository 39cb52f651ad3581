import type { Json } from '../../providers/conformance/fixture'

/** A model of Anthropic, and a short answer of its. */
export const claude = 'anthropic/claude-sonnet-4-6'
export const head = {
  id: 'msg_theirs',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-6',
}
export const greeting = {
  ...head,
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
}
export const usage = { input_tokens: 10, output_tokens: 2, service_tier: 'standard' }

export const start: Json = {
  type: 'message_start',
  message: { ...head, content: [], usage: { input_tokens: 10, output_tokens: 1 } },
}
export const events: Json[] = [
  start,
  { type: 'ping' },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: {} } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 2 },
    context_management: { applied_edits: [] },
  },
  { type: 'message_stop' },
]

export const framesOf = (list: readonly Json[]) =>
  list
    .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
export const streamOf = (list: readonly Json[]) =>
  new Response(framesOf(list), { headers: { 'content-type': 'text/event-stream' } })

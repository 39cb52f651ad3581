import type { Json } from '../../providers/conformance/fixture'

/** The frames by which a provider of one format says the same. */
export interface Voice {
  /** The id of a model of such a provider. */
  model: string
  /** What comes before anything is said. */
  opening: string[]
  say: (text: string) => string[]
  /** The reason of the end: nothing but counts may follow. */
  finish: string[]
  /** The counts, where they come after the reason: 5 tokens read, 1 written. */
  usage: string[]
  /** What marks the end of the bytes. */
  last: (text: string) => string[]
  /** That the provider is busy, in place of an event. */
  busy: string
  /** The same answer without a stream. */
  whole: (text: string) => Json
}

const frame = (event: Json) => `data: ${JSON.stringify(event)}\n\n`
const named = (type: string, event: Json = {}) => `event: ${type}\n${frame({ type, ...event })}`

const chunk = (delta: Json, finish_reason: string | null = null) =>
  frame({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })
const counts = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }

const chat: Voice = {
  model: 'groq/m',
  opening: [chunk({ role: 'assistant', content: '' })],
  say: (text) => [chunk({ content: text })],
  finish: [chunk({}, 'stop')],
  usage: [frame({ id: 'x', choices: [], usage: counts })],
  last: () => ['data: [DONE]\n\n'],
  busy: frame({ error: { message: 'Overloaded.', type: 'server_error', code: 503 } }),
  whole: (content) => ({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: counts,
  }),
}

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }

const messages: Voice = {
  model: 'anthropic/m',
  opening: [
    named('message_start', {
      message: {
        ...message,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 5, output_tokens: 0 },
      },
    }),
    named('ping'),
  ],
  say: (text) => [
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    named('content_block_stop', { index: 0 }),
  ],
  finish: [
    named('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 1 },
    }),
  ],
  usage: [],
  last: () => [named('message_stop')],
  busy: named('error', { error: { type: 'overloaded_error', message: 'Overloaded.' } }),
  whole: (text) => ({
    ...message,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 1 },
  }),
}

const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm' }
const part = (text: string) => ({ type: 'output_text', text, annotations: [] })
const item = (text?: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: text === undefined ? 'in_progress' : 'completed',
  content: text === undefined ? [] : [part(text)],
})
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const completed = (text: string) => ({
  ...response,
  status: 'completed',
  output: [item(text)],
  usage: { input_tokens: 5, output_tokens: 1, total_tokens: 6 },
})

const responses: Voice = {
  // It takes tools as Responses only.
  model: 'openai/gpt-6-astra',
  opening: [
    named('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
    named('response.in_progress', { response: { ...response, status: 'in_progress', output: [] } }),
  ],
  say: (text) => [
    named('response.output_item.added', { output_index: 0, item: item() }),
    named('response.content_part.added', { ...place, part: part('') }),
    named('response.output_text.delta', { ...place, delta: text }),
    named('response.output_text.done', { ...place, text }),
    named('response.content_part.done', { ...place, part: part(text) }),
    named('response.output_item.done', { output_index: 0, item: item(text) }),
  ],
  finish: [],
  usage: [],
  last: (text) => [named('response.completed', { response: completed(text) })],
  busy: named('error', { code: 'rate_limit_exceeded', message: 'Slow down.', param: null }),
  whole: completed,
}

const google: Voice = {
  model: 'google/m',
  opening: [frame({ candidates: [{ content: { role: 'model', parts: [] } }] })],
  say: (text) => [frame({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] })],
  finish: [
    frame({ candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] }),
  ],
  usage: [frame({ usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } })],
  last: () => [],
  busy: frame({ error: { code: 503, status: 'UNAVAILABLE', message: 'Overloaded.' } }),
  whole: (text) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 },
  }),
}

export const voices = { chat, messages, responses, google }
export type Format = keyof typeof voices

/** All of an answer. */
export const answerOf = ({ opening, say, finish, usage, last }: Voice, text: string): string[] => [
  ...opening,
  ...say(text),
  ...finish,
  ...usage,
  ...last(text),
]

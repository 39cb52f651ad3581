import type { AnswerRow, Conformance } from '../../conformance/conformance'
import { isObject, type JsonObject } from '../../../src/wire/json-body'

const created = { type: 'response.created', response: { id: 'r', error: null, usage: null } }
const textDelta = (delta: string, type = 'output_text') => ({
  type: `response.${type}.delta`,
  output_index: 0,
  delta,
})
const cites = (annotation: unknown) => ({
  type: 'response.output_text.annotation.added',
  output_index: 0,
  annotation,
})
const last = (status: string, fields: JsonObject = {}) => ({
  type: `response.${status}`,
  response: { id: 'r', status, error: null, ...fields },
})
const counts = (usage: unknown) => ({ usage })
const smallUsage = counts({ input_tokens: 3, output_tokens: 2, total_tokens: 5 })
const failed = { code: 'provider_error', status: 502, retryable: false } as const
const failedWith = (code: string, message = 'No.') => last('failed', { error: { code, message } })

const counted = (what: string, usage: unknown, expected: AnswerRow['usage']): AnswerRow => ({
  title: `I11 usage: ${what}`,
  events: [created, textDelta('Hi there'), last('completed', counts(usage))],
  message: { content: 'Hi there' },
  ...(expected && { usage: expected }),
})

/** Streams in the provider's own form, by the rows of contract 12.13. */
export const answers: readonly AnswerRow[] = [
  {
    title: 'text: plain, with events of which nothing is needed',
    events: [
      created,
      { type: 'response.queued', response: {} },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } },
      { type: 'response.content_part.added', output_index: 0, part: { type: 'output_text' } },
      textDelta('Grüße '),
      textDelta(''),
      textDelta('你好'),
      { type: 'response.output_text.done', output_index: 0, text: 'Grüße 你好' },
      { type: 'response.something_new', delta: 7 },
      last('completed', smallUsage),
    ],
    message: { content: 'Grüße 你好' },
    usage: { input: 3, output: 2 },
  },
  {
    title: 'finding P10: annotations count from the beginning of the whole text',
    events: [
      created,
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } },
      textDelta('So:'),
      { type: 'response.output_item.added', output_index: 1, item: { type: 'message', id: 'n' } },
      textDelta('it is one.'),
      cites({
        type: 'url_citation',
        url: 'https://a.example/',
        title: 'A',
        start_index: 0,
        end_index: 5,
      }),
      cites({
        type: 'container_file_citation',
        file_id: 'f',
        container_id: 'c',
        filename: 'f.csv',
      }),
      cites(null),
      cites({ type: 7 }),
      last('completed', smallUsage),
    ],
    message: {
      content: 'So:\n\nit is one.',
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://a.example/', title: 'A', start_index: 5, end_index: 10 },
        },
        {
          type: 'container_file_citation',
          container_file_citation: { file_id: 'f', container_id: 'c', filename: 'f.csv' },
        },
      ],
    },
  },
  {
    title: 'finding P8: items of tools that are not read, whatever is in them',
    events: [
      created,
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'tool_search_call', id: null, arguments: { query: 'x' }, name: 7 },
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'item_of_tomorrow', input: [] },
      },
      textDelta('Hi'),
      last('completed', smallUsage),
    ],
    message: { content: 'Hi' },
  },
  {
    title: 'shape: refusal',
    events: [
      created,
      textDelta('I will ', 'refusal'),
      textDelta('not.', 'refusal'),
      last('completed', smallUsage),
    ],
    message: { refusal: 'I will not.' },
  },
  {
    title: 'shape: length cut',
    events: [
      created,
      textDelta('a'),
      last('incomplete', { ...smallUsage, incomplete_details: { reason: 'max_output_tokens' } }),
    ],
    message: { content: 'a' },
    finish: 'length',
    usage: { input: 3, output: 2 },
  },
  {
    title: 'shape: content filter',
    events: [
      created,
      textDelta('a'),
      last('incomplete', { ...smallUsage, incomplete_details: { reason: 'content_filter' } }),
    ],
    message: { content: 'a' },
    finish: 'content_filter',
  },
  {
    title: 'reasoning: text of an open model',
    events: [
      created,
      textDelta('Hm.', 'reasoning_text'),
      textDelta('a'),
      last('completed', smallUsage),
    ],
    message: { reasoning_content: 'Hm.', content: 'a' },
  },
  counted(
    'cached, written and thought are inside',
    {
      input_tokens: 50,
      input_tokens_details: { cached_tokens: 20, cache_write_tokens: 10 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 59,
    },
    { input: 20, cachedInput: 20, cacheWrite: 10, output: 5, reasoning: 4 },
  ),
  counted('zeros', { input_tokens: 0, output_tokens: 0, total_tokens: 0 }, {}),
  counted('no total', { input_tokens: 4, output_tokens: 1 }, { input: 4, output: 1 }),
  counted('only a total', { total_tokens: 6 }, { input: 6 }),
  counted(
    'a total that does not fit',
    { input_tokens: 4, output_tokens: 1, total_tokens: 3 },
    { input: 4, output: 1, flawed: true },
  ),
  counted('null: it is estimated', null, { input: 7, output: 2, estimated: true }),
  counted('missing: it is estimated', undefined, { input: 7, output: 2, estimated: true }),
  {
    title: 'inside a 200: a flat error as first event',
    events: [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null }],
    error: { code: 'provider_error', status: 503, retryable: true },
  },
  {
    title: 'inside a 200: a nested error after text',
    events: [
      created,
      textDelta('a'),
      { type: 'error', error: { type: 'server_error', message: 'x' } },
    ],
    error: failed,
  },
  {
    title: 'inside a 200: an empty account',
    events: [created, failedWith('insufficient_quota', 'You exceeded your current quota.')],
    error: failed,
  },
  {
    title: 'inside a 200: the prompt is too long',
    events: [
      created,
      failedWith('context_length_exceeded', 'Your input exceeds the context window of this model.'),
    ],
    error: { code: 'context_length_exceeded', status: 400 },
  },
  {
    title: 'inside a 200: failed without a word',
    events: [created, textDelta('a'), last('failed')],
    error: failed,
  },
  { title: 'inside a 200: cancelled', events: [created, last('cancelled')], error: failed },
  {
    title: 'inside a 200: an event with an unexpected shape',
    events: [created, { type: 'response.output_text.delta', delta: { text: 'a' } }],
    error: failed,
  },
]

/**
 * Returns the message at the end of a recording. The recordings are shortened: the first pieces of each message
 * are streamed, its end has all of it.
 */
const toFinalMessage = (events: readonly JsonObject[]): JsonObject => {
  const response = events.at(-1)?.['response']
  const output: unknown = isObject(response) && response['output']
  const items = Array.isArray(output) ? output.filter(isObject) : []
  const messages = items.filter(({ type }) => type === 'message')
  const texts = messages.map(({ content }) =>
    (Array.isArray(content) ? content.filter(isObject) : []).map(({ text }) => text).join(''),
  )
  return { content: texts.join('\n\n') }
}

/** Recorded answers, and their content. */
export const recordings: Conformance['recordings'] = [
  {
    file: 'openai-phase.1.chunks.txt',
    message: toFinalMessage,
    usage: { input: 4040, cachedInput: 3072, output: 399, reasoning: 64 },
  },
  {
    file: 'azure-text.1.chunks.txt',
    message: { content: 'Hello' },
    usage: { input: 11, output: 11 },
  },
  {
    file: 'openai-custom-tool.1.chunks.txt',
    message: {
      tool_calls: [
        {
          id: 'call_custom_sql_001',
          type: 'function',
          function: {
            name: 'write_sql',
            arguments: '{"input":"SELECT * FROM users WHERE age > 25"}',
          },
        },
      ],
    },
    finish: 'tool_calls',
  },
  { file: 'openai-error.1.chunks.txt', error: failed },
]

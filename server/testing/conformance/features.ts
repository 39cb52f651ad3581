import type { VoicedAnswer } from './voices'
import type { JsonObject } from '../../src/wire/json-body'
import type { Usage } from '../../src/wire/usage'

/** A feature of requests: its addition to the plainest one, and the part of it that must arrive. */
export interface RequestFeature {
  name: string
  chat: JsonObject
  /** Matches the request as it is sent where the feature is taken, and not one without the feature. */
  mark: RegExp
}

/** A feature of answers: the provider's answer, and the one that the caller must receive. */
export interface AnswerFeature {
  name: string
  answer: VoicedAnswer
  message?: JsonObject
  finish?: string
  usage?: Partial<Usage>
  /** The stream ends without `[DONE]`, or whatever else marks an end in that format. */
  isUnmarked?: boolean
  /** The answer is none. */
  fails?: boolean
}

const user = (content: unknown): JsonObject => ({ role: 'user', content })
const part = (type: string, own: JsonObject) => ({
  messages: [
    user([
      { type: 'text', text: 'Look:' },
      { type, [type]: own },
    ]),
  ],
})
const call = (id: string, name = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: `{"marked":"${id}"}` },
})
const tools = [
  { type: 'function', function: { name: 'f' } },
  { type: 'function', function: { name: 'g' } },
]
const called = [
  user('Hello'),
  { role: 'assistant', content: null, tool_calls: [call('one'), call('two', 'g')] },
  { role: 'tool', tool_call_id: 'one', content: 'result-one' },
  { role: 'tool', tool_call_id: 'two', content: 'result-two' },
]
const png = 'iVBORw0KGgo='
const schema = {
  type: 'object',
  properties: { marked: { $ref: '#/$defs/mark' } },
  $defs: { mark: { type: 'string' } },
  required: ['marked'],
  additionalProperties: false,
}

export const requestFeatures: readonly RequestFeature[] = [
  {
    name: 'several system messages',
    chat: {
      messages: [
        { role: 'system', content: 'mark-1' },
        user('a'),
        { role: 'developer', content: 'mark-2' },
        user('b'),
      ],
    },
    mark: /mark-1[^]*mark-2|mark-2[^]*mark-1/,
  },
  { name: 'unicode', chat: { messages: [user('日本 👩‍👧')] }, mark: /日本 👩‍👧/ },
  { name: '`n` above 1', chat: { n: 2 }, mark: /"n":2|candidateCount":2/ },
  { name: 'stop', chat: { stop: ['MARK'] }, mark: /MARK/ },
  { name: 'seed', chat: { seed: 424_242 }, mark: /424242/ },
  { name: 'output limit', chat: { max_tokens: 4321 }, mark: /4321/ },
  { name: 'tools', chat: { tools }, mark: /"name":"f"[^]*"name":"g"/ },
  {
    name: 'two calls and their results',
    chat: { tools, messages: called },
    mark: /result-one[^]*result-two/,
  },
  {
    name: 'result with an image',
    chat: {
      tools,
      messages: [
        user('Hello'),
        { role: 'assistant', content: null, tool_calls: [call('one')] },
        {
          role: 'tool',
          tool_call_id: 'one',
          content: [
            { type: 'text', text: 'seen' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
          ],
        },
      ],
    },
    mark: new RegExp(png),
  },
  {
    name: 'tool choice: none',
    chat: { tools, tool_choice: 'none' },
    // Or no tool at all.
    mark: /none|^(?!.*"name":"f")/i,
  },
  {
    name: 'tool choice: required',
    chat: { tools, tool_choice: 'required' },
    mark: /required|"any"/i,
  },
  {
    name: 'tool choice: named',
    chat: { tools, tool_choice: { type: 'function', function: { name: 'g' } } },
    mark: /(?:choice|config)[^]*"name":"g"|allowedFunctionNames":\["g"\]|"tools":\[(?:(?!"f")[^])*"g"/i,
  },
  {
    name: 'no parallel tool calls',
    chat: { tools, parallel_tool_calls: false },
    mark: /parallel_tool/,
  },
  { name: 'JSON mode', chat: { response_format: { type: 'json_object' } }, mark: /json/i },
  {
    name: 'JSON schema with `$defs`',
    chat: { response_format: { type: 'json_schema', json_schema: { name: 'm', schema } } },
    mark: /marked/,
  },
  {
    name: 'image as data',
    chat: part('image_url', { url: `data:image/png;base64,${png}` }),
    mark: new RegExp(png),
  },
  {
    name: 'image by URL',
    chat: part('image_url', { url: 'https://x.example/mark.png' }),
    // The address, or the data behind it.
    mark: /mark\.png|bWFyay5wbmc=/,
  },
  {
    name: 'PDF',
    chat: part('file', { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' }),
    mark: /JVBERi0x/,
  },
  {
    name: 'audio',
    chat: part('input_audio', { data: 'UklGRg==', format: 'wav' }),
    mark: /UklGRg==/,
  },
  {
    name: 'cache breakpoint on a result',
    chat: {
      tools,
      messages: [
        user('Hello'),
        { role: 'assistant', content: null, tool_calls: [call('one')] },
        {
          role: 'tool',
          tool_call_id: 'one',
          content: [{ type: 'text', text: 'seen', cache_control: { type: 'ephemeral' } }],
        },
      ],
    },
    mark: /cache_control|cachePoint/,
  },
  {
    name: 'a turn with reasoning only, which may be left out',
    chat: {
      messages: [
        user('mark-1'),
        { role: 'assistant', content: null, reasoning_content: 'Hm.' },
        user('mark-2'),
      ],
    },
    mark: /mark-1[^]*mark-2/,
  },
  {
    name: 'effort',
    chat: { reasoning_effort: 'high' },
    mark: /effort|thinking(?:Config|":\{)|budget/i,
  },
]

const text = 'Grüße 日本'

export const answerFeatures: readonly AnswerFeature[] = [
  { name: 'text', answer: { text, finish: 'stop' }, message: { content: text }, finish: 'stop' },
  {
    name: 'two calls, one without arguments, after text',
    answer: { text, calls: ['{"a":1}', ''], finish: 'stop' },
    message: {
      content: text,
      tool_calls: [
        { function: { name: 'first', arguments: '{"a":1}' } },
        { function: { name: 'second', arguments: '{}' } },
      ],
    },
    finish: 'tool_calls',
  },
  {
    name: 'reasoning',
    answer: { thought: 'Hm.', text, finish: 'stop' },
    message: { content: text, reasoning_content: 'Hm.' },
  },
  {
    name: 'citations',
    answer: { text, cites: 'https://a.example/', finish: 'stop' },
    message: {
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example/' } }],
    },
  },
  {
    name: 'unknown fields beside the text',
    answer: { text, isStrange: true, finish: 'stop' },
    message: { content: text },
    finish: 'stop',
  },
  {
    name: 'without `[DONE]`',
    answer: { text, finish: 'stop' },
    isUnmarked: true,
    message: { content: text },
    finish: 'stop',
  },
  { name: 'truncated by the output limit', answer: { text, finish: 'length' }, finish: 'length' },
  { name: 'content filter', answer: { text, finish: 'filter' }, finish: 'content_filter' },
  {
    name: 'an unknown finish reason is not reported as `stop`',
    answer: { text, finish: 'unknown' },
    message: { content: text },
    finish: 'length',
  },
  { name: 'usage', answer: { text, finish: 'stop' }, usage: { input: 10, estimated: false } },
  { name: 'usage: read from a cache', answer: { text, finish: 'stop' }, usage: { cachedInput: 4 } },
  { name: 'usage: reasoning', answer: { text, finish: 'stop' }, usage: { reasoning: 3 } },
  {
    name: 'usage: missing, so estimated',
    answer: { text, finish: 'stop', claimed: null },
    message: { content: text },
    usage: { estimated: true },
  },
  {
    name: 'usage: output is bounded by what the answer can contain',
    answer: { text, finish: 'stop', claimed: 131_072 },
    message: { content: text },
    usage: { estimated: false, flawed: true },
  },
  { name: 'a truncated answer is an error', answer: { text, finish: undefined }, fails: true },
  {
    name: 'an error after some text',
    answer: { text, isFailing: true, finish: 'stop' },
    fails: true,
  },
]

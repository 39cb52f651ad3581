import type { JsonObject } from '../../src/wire/json-body'

/** A feature of requests: its addition to the plainest one, and the part of it that must arrive. */
export interface RequestFeature {
  name: string
  chat: JsonObject
  /** Matches the request as it is sent where the feature is taken, and not one without the feature. */
  mark: RegExp
  /** Other ones, by the names of their dialects. */
  marks?: Readonly<Record<string, RegExp>>
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
const claudeThought = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
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
    name: 'PDF as an image',
    chat: part('image_url', { url: 'data:application/pdf;base64,JVBERi0x' }),
    mark: /JVBERi0x/,
  },
  {
    name: 'audio by a URL of its data',
    chat: part('audio_url', { url: 'data:audio/ogg;base64,T2dnUw==' }),
    mark: /T2dnUw==/,
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
    name: 'reasoning that it signed, in fragments',
    chat: {
      tools,
      messages: [
        user('Hello'),
        {
          role: 'assistant',
          content: null,
          reasoning_details: [
            { ...claudeThought, text: 'I ' },
            { ...claudeThought, text: 'think.' },
            { ...claudeThought, signature: 'bWFyaw' },
            { type: 'reasoning.encrypted', format: 'openai-responses-v1', data: 'b3duZGF0YQ' },
          ],
          tool_calls: [
            { ...call('one'), extra_content: { google: { thought_signature: 'b3duZGF0YQ' } } },
          ],
        },
        { role: 'tool', tool_call_id: 'one', content: 'seen' },
      ],
    },
    mark: /I think\.[^]*bWFyaw|b3duZGF0YQ/,
  },
  {
    name: '`reasoning` with a budget',
    chat: { reasoning: { max_tokens: 20_000 } },
    mark: /effort|thinking(?:Config|":\{)|budget/i,
  },
  {
    name: 'effort',
    chat: { reasoning_effort: 'high' },
    mark: /effort|thinking(?:Config|":\{)|budget/i,
  },
]

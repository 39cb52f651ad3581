import type { RequestRow } from '../../conformance/conformance'
import { sampleTool } from '../../providers/samples'
import type { JsonObject } from '../../../src/wire/json-body'

const user = (content: unknown) => ({ role: 'user', content })
const text = (content: string) => ({ type: 'text', text: content })
const call = (id: string, args: string) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: args },
})
const look = sampleTool('look', { description: 'Looks.' })
const book = sampleTool('book')
const tool = (name: string, description?: string) => ({
  type: 'function',
  function: {
    name,
    ...(description && { description }),
    parameters: { type: 'object', properties: { q: { type: 'string' } } },
  },
})
const lookTool = tool('look', 'Looks.')
const schema = {
  type: 'object',
  $defs: { a: { const: 1 } },
  properties: { b: { $ref: '#/$defs/a' } },
}
const refused = (param: string) => ({ param, issue: 'unsupported_by_model' })
const thinking = { capabilities: { reasoning: true, tools: true, vision: true, jsonSchema: true } }
const png = 'data:image/png;base64,iVBORw0KGgo='

const history = (content: unknown, result: unknown): JsonObject[] => [
  user('a'),
  {
    role: 'assistant',
    content,
    tool_calls: [call('c1__thought__c2ln', ''), call('c2', '{"q":1}')],
  },
  { role: 'tool', tool_call_id: 'c1__thought__c2ln', content: result },
  { role: 'tool', tool_call_id: 'c2', content: [text('x'), text('y')] },
]
const written = (plan: string | undefined, result: string) => [
  { role: 'user', content: 'a' },
  {
    role: 'assistant',
    ...(plan && { tool_plan: plan }),
    tool_calls: [call('c1', '{}'), call('c2', '{"q":1}')],
  },
  { role: 'tool', tool_call_id: 'c1', content: result },
  { role: 'tool', tool_call_id: 'c2', content: 'x\ny' },
]

/** Requests of callers, and the bodies that the provider receives. */
export const requests: readonly RequestRow[] = [
  {
    title: 'request: the exact body of a rich one',
    chat: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        user([text('a'), text(' '), text('b')]),
        { role: 'assistant', content: 'c', reasoning_content: 'hm', name: 'x' },
        { role: 'developer', content: [text('In English.')] },
        user('d'),
      ],
      max_tokens: 900,
      temperature: 1.7,
      top_p: 1,
      seed: 5,
      presence_penalty: -1,
      frequency_penalty: 1.5,
      stop: ['X'],
      tools: [look],
      user: 'u',
      logit_bias: { 1: 1 },
      logprobs: true,
      stream: false,
      metadata: { a: 'b' },
      store: true,
    },
    body: {
      model: 'command-a-03-2025',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'a\nb' },
        { role: 'assistant', content: 'c' },
        { role: 'system', content: 'In English.' },
        { role: 'user', content: 'd' },
      ],
      max_tokens: 1000,
      temperature: 1,
      p: 0.99,
      seed: 5,
      presence_penalty: 0,
      frequency_penalty: 1,
      stop_sequences: ['X'],
      tools: [lookTool],
      stream: true,
    },
  },
  { title: 'text: a stop as text', chat: { stop: 'END' }, body: { stop_sequences: ['END'] } },
  { title: 'text: n', chat: { n: 2 }, refused: refused('n') },
  {
    title: 'text: nothing but blanks',
    chat: { messages: [user(' \n')] },
    refused: { param: 'messages', issue: 'empty' },
  },
  {
    title: 'tools: calls, results, what was said before them, ids of others',
    chat: { messages: history('I look.', 'found'), tools: [look] },
    body: { messages: written('I look.', 'found'), tools: [lookTool] },
  },
  {
    title: 'tools: a result that says nothing; none of the request',
    chat: { messages: history(null, '') },
    body: { messages: written(undefined, '(no output)') },
  },
  {
    title: 'tools: a result with an image',
    chat: { messages: history(null, [{ type: 'image_url', image_url: { url: png } }]) },
    refused: refused('messages.2.content.0'),
  },
  {
    title: 'tools: a result without its call',
    chat: { messages: [user('a'), { role: 'tool', tool_call_id: 'x', content: 'b' }] },
    refused: { param: 'messages.1.tool_call_id', issue: 'unknown_value' },
  },
  {
    title: 'tools: choice none',
    chat: { tools: [look], tool_choice: 'none' },
    body: { tools: [lookTool], tool_choice: 'NONE' },
  },
  {
    title: 'tools: choice auto',
    chat: { tools: [look], tool_choice: 'auto' },
    body: { tools: [lookTool] },
  },
  {
    title: 'tools: choice required, strict',
    chat: { tools: [sampleTool('book', { strict: true })], tool_choice: 'required' },
    body: { tools: [tool('book')], tool_choice: 'REQUIRED', strict_tools: true },
  },
  {
    title: 'tools: choice of one',
    chat: { tools: [look, book], tool_choice: { type: 'function', function: { name: 'book' } } },
    body: { tools: [tool('book')], tool_choice: 'REQUIRED' },
  },
  {
    title: 'tools: choice among some',
    chat: {
      tools: [look, book],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'book' } }] },
      },
    },
    body: { tools: [tool('book')] },
  },
  { title: 'tools: an empty list', chat: { tools: [] }, body: {} },
  {
    title: 'shape: JSON',
    chat: { response_format: { type: 'json_object' } },
    body: { response_format: { type: 'json_object' } },
  },
  {
    title: 'shape: JSON schema',
    chat: { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
    body: { response_format: { type: 'json_object', json_schema: schema } },
  },
  {
    title: 'shape: JSON beside tools',
    chat: { response_format: { type: 'json_object' }, tools: [look] },
    refused: refused('response_format'),
  },
  {
    title: 'media: images by data and by address',
    chat: {
      messages: [
        user([
          text('a'),
          { type: 'image_url', image_url: { url: png, detail: 'low' } },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        ]),
      ],
    },
    body: {
      messages: [
        user([
          text('a'),
          { type: 'image_url', image_url: { url: png, detail: 'low' } },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        ]),
      ],
    },
  },
  {
    title: 'media: a file',
    chat: {
      messages: [user([{ type: 'file', file: { file_data: 'data:application/pdf;base64,AA' } }])],
    },
    refused: refused('messages.0.content.0'),
  },
  {
    title: 'media: sound',
    chat: {
      messages: [user([{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }])],
    },
    refused: refused('messages.0.content.0'),
  },
  {
    title: 'reasoning: an effort',
    chat: { reasoning_effort: 'low' },
    target: thinking,
    body: { thinking: { type: 'enabled' } },
  },
  {
    title: 'reasoning: none',
    chat: { reasoning: { effort: 'none' } },
    target: thinking,
    body: { thinking: { type: 'disabled' } },
  },
  { title: 'reasoning: of a model that does not', chat: { reasoning_effort: 'high' }, body: {} },
]

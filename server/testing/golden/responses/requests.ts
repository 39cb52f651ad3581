import type { RequestRow } from '../../conformance/conformance'
import { sampleTool } from '../../providers/samples'

const user = (content: unknown) => ({ role: 'user', content })
const text = (content: string) => ({ type: 'text', text: content })
const input = (content: string) => ({ type: 'input_text', text: content })
const call = (id: string, args: string) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: args },
})
const look = sampleTool('look', { description: 'Looks.' })
const lookTool = {
  type: 'function',
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: { q: { type: 'string' } } },
  strict: false,
}
const schema = { type: 'object', $defs: { a: { const: 1 } }, properties: {} }
const png = 'data:image/png;base64,iVBORw0KGgo='
const pdf = 'data:application/pdf;base64,JVBERi0='
const thought = {
  type: 'reasoning.encrypted',
  data: 'ZW5j',
  id: 'rs_1',
  format: 'openai-responses-v1',
}
const plain = { capabilities: { reasoning: false, tools: true, vision: true, jsonSchema: true } }

const inLoop = [
  user('a'),
  {
    role: 'assistant',
    content: 'I look.',
    tool_calls: [call('c1', '{"q": 1}'), call('x'.repeat(70), '')],
    reasoning_details: [thought, { ...thought, format: 'anthropic-claude-v1' }],
  },
  { role: 'tool', tool_call_id: 'c1', content: '' },
  {
    role: 'tool',
    tool_call_id: 'x'.repeat(70),
    content: [text('b'), { type: 'image_url', image_url: { url: png } }],
  },
]
const longId = 'call_' // a hash follows
const written = (withThoughts: boolean, id: string) => [
  { role: 'user', content: 'a' },
  ...(withThoughts
    ? [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'ZW5j' }]
    : []),
  { role: 'assistant', content: 'I look.' },
  { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"q":1}' },
  { type: 'function_call', call_id: id, name: 'look', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output: '' },
  {
    type: 'function_call_output',
    call_id: id,
    output: [input('b'), { type: 'input_image', image_url: png, detail: 'auto' }],
  },
]
const hashed = `${longId}${new Bun.CryptoHasher('sha256').update('x'.repeat(70)).digest('hex').slice(0, 32)}`

/** Requests of callers, and the bodies that the provider receives. */
export const requests: readonly RequestRow[] = [
  {
    title: 'request: the exact body of a rich one',
    chat: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        user([
          text('a'),
          text(' '),
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
          { type: 'file', file: { file_data: pdf, filename: 'a.pdf' } },
          { type: 'file', file: { file_id: 'file-1' } },
        ]),
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'developer', content: 'In English.' },
        user('b'),
      ],
      max_completion_tokens: 900,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['X'],
      seed: 5,
      presence_penalty: 1,
      logit_bias: { 1: 1 },
      logprobs: true,
      top_logprobs: 3,
      tools: [look],
      parallel_tool_calls: false,
      reasoning_effort: 'high',
      verbosity: 'low',
      user: 'u',
      metadata: { a: 'b' },
      store: true,
      service_tier: 'flex',
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      stream: true,
      stream_options: { include_usage: true },
    },
    body: {
      model: 'gpt-6-astra',
      input: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            input('a'),
            { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
            { type: 'input_file', filename: 'a.pdf', file_data: pdf },
            { type: 'input_file', file_id: 'file-1' },
          ],
        },
        { role: 'assistant', content: 'No.' },
        { role: 'developer', content: 'In English.' },
        { role: 'user', content: 'b' },
      ],
      max_output_tokens: 1000,
      reasoning: { effort: 'high' },
      tools: [lookTool],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      text: { verbosity: 'low' },
      user: 'u',
      metadata: { a: 'b' },
      service_tier: 'flex',
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      include: ['reasoning.encrypted_content'],
      store: false,
      stream: true,
    },
  },
  { title: 'text: n', chat: { n: 2 }, refused: { param: 'n', issue: 'unsupported_by_model' } },
  {
    title: 'text: nothing but blanks',
    chat: { messages: [user(' ')] },
    refused: { param: 'messages', issue: 'empty' },
  },
  {
    title: 'text: a limit below theirs',
    chat: {},
    target: { maxTokens: 5 },
    body: { max_output_tokens: 16 },
  },
  {
    title: 'reasoning: effort none takes temperature',
    chat: { reasoning_effort: 'none', temperature: 0.5, top_p: 0.9 },
    body: { reasoning: { effort: 'none' }, temperature: 0.5, top_p: 0.9 },
  },
  {
    title: 'reasoning: a model that does not think',
    chat: { temperature: 0.5 },
    target: plain,
    body: { temperature: 0.5, include: null },
  },
  {
    title: 'reasoning: thoughts go back before their calls, results with an image, long ids',
    chat: { messages: inLoop, tools: [look] },
    body: { input: written(true, hashed), tools: [lookTool], tool_choice: 'auto' },
  },
  {
    title: 'reasoning: thoughts that were refused do not',
    chat: { messages: inLoop },
    target: { signatures: 'replaced' },
    body: { input: written(false, hashed) },
  },
  {
    title: 'reasoning: a thought that led to nothing',
    chat: {
      messages: [
        user('a'),
        { role: 'assistant', content: '', reasoning_details: [thought] },
        user('b'),
      ],
    },
    body: {
      input: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    },
  },
  ...(['none', 'required'] as const).map((choice) => ({
    title: `tools: choice ${choice}`,
    chat: { tools: [look], tool_choice: choice },
    body: { tools: [lookTool], tool_choice: choice },
  })),
  {
    title: 'tools: choice of one, strict',
    chat: {
      tools: [sampleTool('look', { description: 'Looks.', strict: true })],
      tool_choice: { type: 'function', function: { name: 'look' } },
    },
    body: {
      tools: [{ ...lookTool, strict: true }],
      tool_choice: { type: 'function', name: 'look' },
    },
  },
  {
    title: 'shape: JSON',
    chat: { response_format: { type: 'json_object' } },
    body: { text: { format: { type: 'json_object' } } },
  },
  {
    title: 'shape: JSON schema',
    chat: {
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } },
    },
    body: { text: { format: { type: 'json_schema', name: 'x', schema, strict: true } } },
  },
  {
    title: 'media: sound',
    chat: {
      messages: [user([{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }])],
    },
    refused: { param: 'messages.0.content.0', issue: 'unsupported_by_model' },
  },
]

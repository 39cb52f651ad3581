import type { RequestRow } from '../../conformance/conformance'

const text = (content: string) => ({ type: 'text', text: content })
const toMessage = (role: string, ...content: object[]) => ({ role, content })
const adaptive = { type: 'adaptive', display: 'summarized' }
const time = { type: 'function', function: { name: 'time' } }
const theirTime = { name: 'time', input_schema: { properties: {}, type: 'object' } }

/** An effort, and the body that a model receives for it. */
const effort = (model: string, reasoning_effort: string, body: object): RequestRow => ({
  title: `reasoning: ${reasoning_effort} of ${model}`,
  chat: { reasoning_effort },
  target: { upstreamModel: model },
  body: { model, ...body },
})

const thinking = (level: string) => ({ thinking: adaptive, output_config: { effort: level } })
const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })

const detail = {
  type: 'reasoning.text',
  text: 'Hm.',
  signature: 'c2ln',
  format: 'anthropic-claude-v1',
  index: 0,
}
const call = { id: 'a', type: 'function', function: { name: 'time', arguments: '{}' } }
const loop = (details: object[] | undefined) => [
  { role: 'user', content: 'Hello' },
  {
    role: 'assistant',
    content: null,
    reasoning_content: 'Hm.',
    reasoning_details: details,
    tool_calls: [call],
  },
  { role: 'tool', tool_call_id: 'a', content: 'noon' },
]
const theirLoop = (...thoughts: object[]) => [
  toMessage('user', text('Hello')),
  toMessage('assistant', ...thoughts, { type: 'tool_use', id: 'a', name: 'time', input: {} }),
  toMessage('user', { type: 'tool_result', tool_use_id: 'a', content: [text('noon')] }),
]

const schema = {
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 1, maximum: 9, description: 'How many' },
    kind: { oneOf: [{ const: 'a' }, { $ref: '#/$defs/kind' }] },
    list: { type: 'array', items: { type: 'string', pattern: '^a' }, minItems: 1, maxItems: 3 },
    at: { type: 'string', format: 'date-time' },
    by: { type: 'string', format: 'phone' },
  },
  $defs: { kind: { type: 'object', properties: {} } },
}
const strictSchema = {
  type: 'object',
  properties: {
    count: { type: 'integer', description: 'How many (minimum: 1, maximum: 9)' },
    kind: { anyOf: [{ const: 'a' }, { $ref: '#/$defs/kind' }] },
    list: {
      type: 'array',
      items: { type: 'string', description: '(pattern: "^a")' },
      minItems: 1,
      description: '(maxItems: 3)',
    },
    at: { type: 'string', format: 'date-time' },
    by: { type: 'string', description: '(format: "phone")' },
  },
  $defs: { kind: { type: 'object', properties: {}, additionalProperties: false } },
  additionalProperties: false,
}
const response_format = { type: 'json_schema', json_schema: { name: 'answer', schema } }
const onlyJson = 'Answer with one valid JSON object and nothing else, without code fences.'

const reasoning: RequestRow[] = [
  effort('claude-opus-4-7', 'minimal', thinking('low')),
  effort('claude-opus-4-7', 'medium', thinking('medium')),
  effort('claude-opus-4-7', 'xhigh', thinking('xhigh')),
  effort('claude-sonnet-4-6', 'max', thinking('high')),
  effort('us.anthropic.claude-fable-5-20260101-v1:0', 'max', thinking('max')),
  effort('claude-opus-9', 'high', thinking('high')),
  effort('claude-sonnet-4-5', 'low', budget(2000)),
  effort('claude-sonnet-4-5', 'minimal', budget(1024)),
  effort('claude-haiku-4-5', 'high', budget(8000)),
  effort('claude-3-haiku-20240307', 'high', { max_tokens: 4096 }),
  effort('claude-opus-5', 'none', { thinking: { type: 'disabled' } }),
  effort('claude-sonnet-5-5', 'none', {
    thinking: { type: 'between_tools' },
    output_config: { effort: 'low' },
  }),
  effort('claude-opus-5-5', 'none', { output_config: { effort: 'low' } }),
  {
    title: 'reasoning: a limit with no room for it',
    chat: { reasoning_effort: 'high' },
    target: { maxTokens: 2000 },
    body: { max_tokens: 2000 },
  },
  {
    title: "reasoning: OpenRouter's way of asking, without sampling settings beside it",
    chat: { reasoning: { effort: 'high' }, temperature: 0.5 },
    target: { upstreamModel: 'claude-opus-4-6' },
    body: { model: 'claude-opus-4-6', ...thinking('high') },
  },
  {
    title: 'reasoning: no tool can be forced beside it',
    chat: { reasoning_effort: 'high', tools: [time], tool_choice: 'required' },
    target: { upstreamModel: 'claude-opus-4-6' },
    body: { model: 'claude-opus-4-6', ...thinking('high'), tools: [theirTime] },
  },
  {
    title: 'reasoning: signed thoughts go back',
    chat: {
      reasoning_effort: 'high',
      tools: [time],
      messages: loop([detail, { type: 'reasoning.encrypted', data: 'x', format: detail.format }]),
    },
    body: {
      ...budget(8000),
      tools: [theirTime],
      messages: theirLoop(
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'x' },
      ),
    },
  },
  {
    title: 'reasoning: thoughts of others, or unsigned ones, do not; then nothing is thought',
    chat: {
      reasoning_effort: 'high',
      tools: [time],
      messages: loop([
        { ...detail, format: 'google-gemini-v1' },
        { ...detail, signature: undefined },
      ]),
    },
    body: { tools: [theirTime], messages: theirLoop() },
  },
]

const shapes: RequestRow[] = [
  { title: 'shape: text', chat: { response_format: { type: 'text' } } },
  {
    title: 'shape: JSON without a schema',
    chat: { response_format: { type: 'json_object' } },
    body: { system: [text(onlyJson)] },
  },
  {
    title: 'shape: a schema',
    chat: { response_format },
    body: { output_config: { format: { type: 'json_schema', schema: strictSchema } } },
  },
  {
    title: 'shape: a schema beside an effort',
    chat: { response_format, reasoning_effort: 'low' },
    target: { upstreamModel: 'claude-opus-5' },
    body: {
      model: 'claude-opus-5',
      thinking: adaptive,
      output_config: { effort: 'low', format: { type: 'json_schema', schema: strictSchema } },
    },
  },
  {
    title: 'shape: a schema of an older model is a tool that it must use',
    chat: { response_format },
    target: { upstreamModel: 'claude-sonnet-4-20250514' },
    body: {
      model: 'claude-sonnet-4-20250514',
      tools: [
        { name: 'tollgate_json_answer', description: 'Gives the answer.', input_schema: schema },
      ],
      tool_choice: { type: 'tool', name: 'tollgate_json_answer', disable_parallel_tool_use: true },
    },
  },
  {
    title: 'shape: beside tools of the caller, an older model is told',
    chat: { response_format, tools: [time] },
    target: { upstreamModel: 'claude-sonnet-4-20250514' },
    body: {
      model: 'claude-sonnet-4-20250514',
      system: [text(`${onlyJson} It must match this schema: ${JSON.stringify(schema)}`)],
      tools: [theirTime],
    },
  },
  {
    title: 'shape: strict tools',
    chat: {
      tools: [{ type: 'function', function: { name: 'time', strict: true, parameters: schema } }],
    },
    body: { tools: [{ name: 'time', strict: true, input_schema: strictSchema }] },
  },
]

export const reasoningAndShapeRequests: readonly RequestRow[] = [...reasoning, ...shapes]

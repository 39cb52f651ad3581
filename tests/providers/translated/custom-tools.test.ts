import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import type { Json } from '../conformance/fixture'
import { messages } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front, type ProviderRequest } from './front'

const native = 'openai/gpt-5-mini'
const overResponses = 'openai/gpt-6-astra'
const older = 'openai/gpt-4o-mini'
const claude = 'anthropic/claude-sonnet-4-6'

let front: Front
let client: OpenAI

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
  for (const model of [native, overResponses, older, claude]) await front.price(model)
  client = new OpenAI({
    apiKey: front.customer.key,
    baseURL: `${front.gateway.url}/v1`,
    maxRetries: 0,
    fetch: front.gateway.recorder.fetch,
  })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const input = 'SELECT "name"\nFROM city'
const format = {
  type: 'grammar' as const,
  grammar: { syntax: 'lark' as const, definition: 'start: /.+/' },
}
const tools: ChatCompletionTool[] = [
  { type: 'custom', custom: { name: 'sql', description: 'Runs SQL.', format } },
  { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
]
const history = [
  ...messages,
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_0', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }],
  },
  { role: 'tool', tool_call_id: 'call_0', content: '1' },
]
const choice = { type: 'custom', custom: { name: 'sql' } }
const params = { tools, messages: history, tool_choice: choice }
const usage = { prompt_tokens: 50, completion_tokens: 20, total_tokens: 70 }
const wanted = [{ id: 'call_1', type: 'custom', custom: { name: 'sql', input } }]

/** The call in the format of OpenAI's chat; of a custom tool, or of the function that stands for it. */
function chatAnswer({ body }: ProviderRequest, isCustom: boolean): Response {
  const text = isCustom ? input : JSON.stringify({ input })
  const [kind, field] = isCustom ? ['custom', 'input'] : ['function', 'arguments']
  const called = (name: string | undefined, args: string) => ({
    ...(name && { id: 'call_1', type: kind }),
    [kind]: { ...(name && { name }), [field]: args },
  })
  const head = { id: 'x', model: 'm', created: 1 }
  if (!body['stream']) {
    const message = { role: 'assistant', content: null, tool_calls: [called('sql', text)] }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    return Response.json({ ...head, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: Json, finish_reason: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const pieces = [text.slice(0, 7), text.slice(7)].map((piece) =>
    chunk({ tool_calls: [{ index: 0, ...called(undefined, piece) }] }),
  )
  return eventsOf(
    chunk({ role: 'assistant', tool_calls: [{ index: 0, ...called('sql', '') }] }),
    ...pieces,
    chunk({}, 'tool_calls'),
    { ...head, object: 'chat.completion.chunk', choices: [], usage },
    '[DONE]',
  )
}

function responseAnswer(): Response {
  const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'sql' }
  const counts = { input_tokens: 50, output_tokens: 20 }
  return eventsOf(
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
    { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: input },
    { type: 'response.output_item.done', output_index: 0, item: { ...item, input } },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage: counts } },
  )
}

const delta = (partial_json: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'input_json_delta', partial_json },
})

function claudeAnswer(): Response {
  const block = { type: 'tool_use', id: 'call_1', name: 'sql', input: {} }
  const text = JSON.stringify({ input })
  const counts = { input_tokens: 50, output_tokens: 1 }
  return eventsOf(
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', content: [], usage: counts },
    },
    { type: 'content_block_start', index: 0, content_block: block },
    delta(text.slice(0, 7)),
    delta(text.slice(7)),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  )
}

const sentTools = () => front.requests.at(-1)?.body

type CustomToolCase = [model: string, answer: (request: ProviderRequest) => Response, sent: Json]

const asFunctions = {
  tools: [
    {
      type: 'function',
      function: {
        name: 'sql',
        description: 'Runs SQL.\n\nThe input follows this lark grammar:\nstart: /.+/',
        parameters: { type: 'object', properties: { input: { type: 'string' } } },
      },
    },
    { type: 'function', function: { name: 'look' } },
  ],
  tool_choice: { type: 'function', function: { name: 'sql' } },
  messages: [
    {},
    {
      tool_calls: [
        {
          id: 'call_0',
          type: 'function',
          function: { name: 'sql', arguments: '{"input":"SELECT 1"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_0', content: '1' },
  ],
}

const ways: CustomToolCase[] = [
  [
    native,
    (request) => chatAnswer(request, true),
    { tools, tool_choice: choice, messages: history },
  ],
  [older, (request) => chatAnswer(request, false), asFunctions],
  [
    overResponses,
    responseAnswer,
    {
      tools: [
        {
          type: 'custom',
          name: 'sql',
          description: 'Runs SQL.',
          format: { type: 'grammar', ...format.grammar },
        },
        { type: 'function', name: 'look' },
      ],
      tool_choice: { type: 'custom', name: 'sql' },
      input: [
        {},
        { type: 'custom_tool_call', call_id: 'call_0', name: 'sql', input: 'SELECT 1' },
        { type: 'custom_tool_call_output', call_id: 'call_0', output: '1' },
      ],
    },
  ],
  [
    claude,
    claudeAnswer,
    {
      tools: [{ name: 'sql', input_schema: { required: ['input'] } }, { name: 'look' }],
      tool_choice: { type: 'tool', name: 'sql' },
    },
  ],
]

describe.each(ways)(
  'finding C7: custom tools in a chat completion of %s',
  (model, answer, sent) => {
    test('arrive as the model knows them, and a call comes back as one of a custom tool', async () => {
      front.answer = answer
      const { status, body, text } = await front.chat(model, params)
      expect([status, text]).toEqual([200, expect.any(String)])
      expect(sentTools()).toMatchObject(sent)
      expect(body['choices']).toMatchObject([
        { message: { content: null, tool_calls: wanted }, finish_reason: 'tool_calls' },
      ])
      expect(body['usage']).toMatchObject({ prompt_tokens: 50, completion_tokens: 20 })
    })

    test('a call in a stream returns too, its pieces joined by the official client', async () => {
      front.answer = answer
      const stream = await client.chat.completions.create({
        model,
        tools,
        messages: [{ role: 'user', content: 'Go' }],
        stream: true,
      })
      let received = ''
      const heads: unknown[] = []
      let finish: string | null | undefined
      for await (const { choices } of stream) {
        const [first] = choices
        finish = first?.finish_reason ?? finish
        for (const call of first?.delta.tool_calls ?? []) {
          const { id, type, custom } = call
          if (id) heads.push({ id, type, name: custom?.name })
          received += custom?.input ?? ''
        }
      }
      expect(heads).toEqual([{ id: 'call_1', type: 'custom', name: 'sql' }])
      expect([received, finish]).toEqual([input, 'tool_calls'])
    })
  },
)

test('a choice of a custom tool that is not offered is rejected by name', async () => {
  const answer = await front.chat(native, {
    tools,
    tool_choice: { type: 'custom', custom: { name: 'no' } },
  })
  expect(answer).toMatchObject({
    status: 400,
    error: { code: 'invalid_request', param: 'tool_choice.custom.name' },
  })
  expect(front.requests).toBeEmpty()
})

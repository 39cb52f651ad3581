import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { createFixture, type Fixture } from '../../providers/conformance/fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const input = 'Say something.'
const greeting = 'All is well at the fake provider today, thank you.'

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city.',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}

const create = async (name: string, fields: object = {}) =>
  fixture.client.responses.create({ model: await fixture.model(name), input, ...fields })

/** The same as a stream, read by the helper of the client, which holds the order of all events. */
const streamed = async (name: string, fields: object = {}) => {
  const model = await fixture.model(name)
  return fixture.client.responses.stream({ model, input, ...fields }).finalResponse()
}

const both = [
  ['whole', create],
  ['streamed', streamed],
] as const

test('a question becomes a chat, and its answer a response', async () => {
  const model = await fixture.model('ok')
  const { data, response } = await fixture.client.responses
    .create({ model, input, instructions: 'Be brief.', temperature: 0.5, metadata: { a: 'b' } })
    .withResponse()
  expect(fixture.sent()).toEqual({
    model: 'ok',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: input },
    ],
    temperature: 0.5,
  })
  expect(data).toMatchObject({
    object: 'response',
    status: 'completed',
    model,
    output_text: greeting,
    instructions: 'Be brief.',
    temperature: 0.5,
    metadata: { a: 'b' },
    store: true,
    error: null,
    incomplete_details: null,
  })
  const {
    input_tokens: inputTokens = 0,
    output_tokens: outputTokens = 0,
    total_tokens,
  } = data.usage ?? {}
  expect(outputTokens).toBeGreaterThan(0)
  expect(total_tokens).toBe(inputTokens + outputTokens)
  expect(response.headers.get('x-tollgate-provider')).toBe('fake')
  expect(Number(response.headers.get('x-tollgate-cost'))).toBeGreaterThan(0)
  expect(data.id).toBe(`resp_${response.headers.get('x-request-id')?.slice('req_'.length)}`)
})

describe.each(both)('%s', (_how, ask) => {
  test('a text', async () => {
    const response = await ask('ok')
    expect(response.status).toBe('completed')
    expect(response.output_text).toBe(greeting)
    expect(response.usage?.output_tokens).toBeGreaterThan(0)
  })

  test('thoughts are a reasoning item before the message', async () => {
    const { output } = await ask('reasoning')
    expect(output).toMatchObject([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'The caller greets me, so I greet back.' }],
      },
      { type: 'message', content: [{ type: 'output_text', text: 'Hello to you.' }] },
    ])
  })

  test('a refusal', async () => {
    const { output } = await ask('refusal')
    const content = [{ type: 'refusal', refusal: 'I cannot help with that.' }]
    expect(output).toMatchObject([{ type: 'message', content }])
  })

  test('calls whose fragments come interleaved', async () => {
    const { output } = await ask('tool-interleaved', { tools: [weather] })
    expect(output).toMatchObject([
      { type: 'function_call', name: 'get_weather', status: 'completed' },
      { type: 'function_call', name: 'get_time', status: 'completed' },
    ])
    const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
    expect(calls.map((call): unknown => JSON.parse(call.arguments))).toEqual([
      { city: 'São Paulo', unit: 'celsius' },
      { zone: 'America/Sao_Paulo' },
    ])
  })

  test('a custom tool is called with text', async () => {
    const tools = [{ type: 'custom' as const, name: 'write', description: 'Writes.' }]
    const { output } = await ask('ok', { tools, tool_choice: { type: 'custom', name: 'write' } })
    expect(output).toMatchObject([{ type: 'custom_tool_call', name: 'write', input: 'text' }])
    expect(fixture.sent()).toMatchObject({
      tools: [{ type: 'function', function: { name: 'write', description: 'Writes.' } }],
      tool_choice: { type: 'function', function: { name: 'write' } },
    })
  })

  test('an answer that ends at the output limit is marked as incomplete', async () => {
    const response = await ask('ok', { max_output_tokens: 3 })
    expect(response.status).toBe('incomplete')
    expect(response.incomplete_details).toEqual({ reason: 'max_output_tokens' })
    expect(response.output_text).not.toBe('')
    expect(greeting).toStartWith(response.output_text)
    expect(fixture.sent()['max_tokens']).toBe(3)
  })
})

describe('tools', () => {
  test('a function is called, and its result goes back', async () => {
    const options = { tools: [weather], tool_choice: 'required' as const }
    const first = await create('ok', options)
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error(`no call but ${call?.type}`)
    expect(JSON.parse(call.arguments)).toEqual({ city: 'text' })

    const history: ResponseInput = [
      { role: 'user', content: input },
      ...first.output.flatMap((item) => (item.type === 'function_call' ? [item] : [])),
      { type: 'function_call_output', call_id: call.call_id, output: 'sunny' },
    ]
    const second = await create('ok', { tools: [weather], input: history })
    expect(second.output_text).toBe(greeting)
    const { name, arguments: args } = call
    expect(fixture.sent()['messages']).toEqual([
      { role: 'user', content: input },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: call.call_id, type: 'function', function: { name, arguments: args } }],
      },
      { role: 'tool', tool_call_id: call.call_id, content: 'sunny' },
    ])
  })

  test('a custom call and its output are sent back as a function’s', async () => {
    await create('ok', {
      input: [
        { type: 'custom_tool_call', call_id: 'call_1', name: 'write', input: 'a' },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
      ],
    })
    expect(fixture.sent()['messages']).toMatchObject([
      { tool_calls: [{ function: { name: 'write', arguments: '{"input":"a"}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ])
  })

  test('tools of OpenAI are left out beside others', async () => {
    await create('ok', { tools: [weather, { type: 'web_search' }] })
    expect(fixture.sent()['tools']).toMatchObject([{ function: { name: 'get_weather' } }])
  })
})

test('a schema is kept to, and parsed by the client', async () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }
  const response = await fixture.client.responses.parse({
    model: await fixture.model('ok'),
    input,
    text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
  })
  expect(response.output_parsed).toEqual({ city: 'text' })
  expect(fixture.sent()['response_format']).toEqual({
    type: 'json_schema',
    json_schema: { name: 'place', schema, strict: true },
  })
})

test('an effort is sent to models that think, and not to others', async () => {
  const capabilities = { reasoning: true }
  const thinking = await fixture.addModel('fake/unicode', { capabilities })
  const options = { input, reasoning: { effort: 'low' as const } }
  await fixture.client.responses.create({ model: thinking, ...options })
  expect(fixture.sent()['reasoning_effort']).toBe('low')
  await create('ok', options)
  expect(fixture.sent()['reasoning_effort']).toBeUndefined()
})

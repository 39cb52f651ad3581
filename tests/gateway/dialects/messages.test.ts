import type { MessageParam, Tool } from '@anthropic-ai/sdk/resources/messages'
import { APIError } from '@anthropic-ai/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  baseRequest,
  failureOf,
  greeting,
  messages,
  path,
  createMessagesFixture,
  textOf,
  type MessagesFixture,
} from './messages-fixture'
import { sendRaw } from '../../harness/http'
import { readMessage } from '../../../server/testing/protocols/messages-events'
import { eventually } from '../../../server/testing/eventually'

let it: MessagesFixture

beforeAll(async () => {
  it = await createMessagesFixture({
    EARLY_HEADERS_SECONDS: '0.1',
    KEEP_ALIVE_SECONDS: '0.1',
    FIRST_BYTE_TIMEOUT_SECONDS: '8',
  })
})
afterAll(() => it[Symbol.asyncDispose]())
afterEach(() => it.verify())

describe('the official client against a provider of the OpenAI format', () => {
  test('a whole message, with its usage, its cost and its id', async () => {
    const model = await it.rig.model('ok')
    const { data, response } = await it.client.messages
      .create({ ...baseRequest, model })
      .withResponse()
    expect(data).toMatchObject({
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: greeting }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 2, output_tokens: 10 },
    })
    expect(data.id).toMatch(/^msg_\w{26}$/)
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
    expect(response.headers.get('x-tollgate-provider')).toBe('fake')
    expect(Number(response.headers.get('x-tollgate-cost'))).toBeCloseTo(42e-6, 9)
    expect(it.sent()).toEqual({ model: 'ok', max_tokens: 100, messages })
  })

  test('a streamed message is the same, event by event and put together', async () => {
    const model = await it.rig.model('ok')
    const types: string[] = []
    const stream = it.client.messages.stream({ ...baseRequest, model })
    stream.on('streamEvent', ({ type }) => types.push(type))
    const message = await stream.finalMessage()
    expect(textOf(message)).toBe(greeting)
    expect(message).toMatchObject({
      stop_reason: 'end_turn',
      usage: { input_tokens: 2, output_tokens: 10 },
    })
    expect(types.filter((type) => type !== 'content_block_delta')).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(it.sent()).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  })

  test('sends the request to the provider as a chat', async () => {
    const model = await it.rig.model('ok')
    await it.post({
      model,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      temperature: 0.5,
      top_k: 5,
      stop_sequences: ['X'],
      metadata: { user_id: 'u-1' },
    })
    expect(it.sent()).toEqual({
      model: 'ok',
      max_tokens: 100,
      messages: [{ role: 'system', content: [{ type: 'text', text: 'Be brief.' }] }, ...messages],
      temperature: 0.5,
      stop: ['X'],
      // By another name than the customer's: the credential is the operator's.
      user: expect.stringMatching(/^[\da-f]{48}$/),
    })
  })

  test('an answer that reaches the limit reports it', async () => {
    const model = await it.rig.model('ok')
    const message = await it.client.messages.create({ messages, model, max_tokens: 3 })
    expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 3 } })
  })

  test('requests thinking of models that support it, and returns it if the client requested it', async () => {
    const thinks = await it.rig.model('reasoning', { capabilities: { reasoning: true } })
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 }
    const longer = { messages, model: thinks, max_tokens: 2000 }
    const message = await it.client.messages.create({ ...longer, thinking })
    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
    expect(it.sent()).toMatchObject({ reasoning_effort: 'low' })
    const streamed = await it.client.messages.stream({ ...longer, thinking }).finalMessage()
    expect(streamed.content).toMatchObject(message.content)
    const plain = await it.client.messages.create(longer)
    expect(plain.content.map(({ type }) => type)).toEqual(['text'])
    await it.client.messages.create({ ...longer, model: await it.rig.model('ok'), thinking })
    expect(it.sent()).not.toHaveProperty('reasoning_effort')
  })
})

describe('tools', () => {
  const weather = { city: 'São Paulo', unit: 'celsius' }
  const time = { zone: 'America/Sao_Paulo' }
  const cases: [string, object[]][] = [
    ['tool-fragments', [{ name: 'get_weather', input: weather }]],
    [
      'tool-interleaved',
      [
        { name: 'get_weather', input: weather },
        { name: 'get_time', input: time },
      ],
    ],
    [
      'tool-together',
      [
        { name: 'get_weather', input: weather },
        { name: 'get_time', input: time },
      ],
    ],
    ['tool-no-args', [{ name: 'get_time', input: {} }]],
  ]

  test.each(cases)('%s: the calls, whole and streamed', async (name, calls) => {
    const model = await it.rig.model(name)
    const whole = await it.client.messages.create({ ...baseRequest, model })
    const streamed = await it.client.messages.stream({ ...baseRequest, model }).finalMessage()
    for (const { content, stop_reason } of [whole, streamed]) {
      expect(content.filter(({ type }) => type === 'tool_use')).toMatchObject(calls)
      expect(stop_reason).toBe('tool_use')
    }
  })

  test('a tool is called, its result goes back, and the model goes on', async () => {
    const model = await it.rig.model('ok')
    const tools: Tool[] = [
      {
        name: 'get_weather',
        description: 'The weather of a city.',
        input_schema: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    ]
    const first = await it.client.messages.create({
      ...baseRequest,
      model,
      tools,
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    })
    expect(it.sent()).toMatchObject({ tool_choice: 'required', parallel_tool_calls: false })
    const [call] = first.content.filter((block) => block.type === 'tool_use')
    expect(call).toMatchObject({ name: 'get_weather', input: { city: 'text' } })
    const result = { type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: 'sunny' }
    const turns: MessageParam[] = [
      ...messages,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [result] },
    ]
    const second = await it.client.messages.create({
      ...baseRequest,
      model,
      tools,
      messages: turns,
    })
    expect(textOf(second)).toBe(greeting)
    expect(it.sent()).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'call_fake_1' }] },
        { role: 'tool', tool_call_id: 'call_fake_1', content: 'sunny' },
      ],
    })
  })

  test('more tools and turns than OpenAI takes are for the provider to judge', async () => {
    const model = await it.rig.model('ok')
    const tools = Array.from({ length: 130 }, (_, at) => ({
      name: `tool_${at}`,
      input_schema: { type: 'object' },
    }))
    const { status } = await it.post({ model, tools })
    expect(status).toBe(200)
    expect(it.sent()).toMatchObject({ tools: { length: 130 } })
  })

  test('rejects features that only Anthropic has, without a call of a provider', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
    const { status, body, headers } = await it.post({ model: await it.rig.model('ok'), tools })
    expect(status).toBe(400)
    expect(body['error']).toMatchObject({ message: expect.stringContaining('tools:') })
    expect(it.rig.upstream.requests()).toEqual([])
    expect(headers.get('x-tollgate-cost')).toBeNull()
  })
})

describe('streams', () => {
  test.each(['rst-after-5', 'end-after-5', 'err-after', 'err-after-3'])(
    '%s: a failure after the start ends in an error event, without an end',
    async (name) => {
      const model = await it.rig.model(name)
      const { text } = await it.post({ model, stream: true })
      const read = readMessage(text)
      expect(read.error).toMatchObject({ type: expect.any(String), message: expect.any(String) })
      expect(read.problems).toEqual([])
      expect(text).not.toContain('message_stop')
      const stream = it.client.messages.stream({ ...baseRequest, model })
      expect(await failureOf(stream.finalMessage())).toBeInstanceOf(APIError)
    },
  )

  test('every frame is an event with its name; a silence is filled with pings', async () => {
    const { gateway, upstream } = it.rig
    const model = await it.rig.model('held-event')
    const body = { ...baseRequest, model, stream: true }
    using raw = await sendRaw(gateway, { path, key: it.customer.key, body })
    await raw.until((received) => received.toString().split('event: ping\n').length > 2)
    await upstream.releaseHeld()
    const response = await raw.response()
    expect(response.headers).toContainEqual(['content-type', 'text/event-stream; charset=utf-8'])
    const read = readMessage(response.body.toString())
    expect(read.problems).toEqual([])
    expect(read.pings).toBeGreaterThan(1)
    expect(read.usage).toMatchObject({ input_tokens: 2, output_tokens: 10 })
    const asking = it.client.messages.stream({ ...baseRequest, model }).finalMessage()
    await upstream.releaseHeld()
    expect(textOf(await asking)).toBe(greeting)
  })

  test('a failure after the early headers is an event too', async () => {
    const model = await it.rig.model('held-event')
    const { status, text } = await it.post({ model, stream: true })
    expect(status).toBe(200)
    expect(readMessage(text)).toMatchObject({ content: [], error: { type: 'timeout_error' } })
  })

  test('a client that aborts cancels the request at the provider, and pays for the output so far', async () => {
    const model = await it.rig.model('held-10')
    const stream = it.client.messages.stream({ messages, model, max_tokens: 1000 })
    let text = ''
    for await (const event of stream) {
      if (event.type !== 'content_block_delta' || event.delta.type !== 'text_delta') continue
      text += event.delta.text
      if (text.includes('w3')) break
    }
    stream.abort()
    await eventually(() => it.rig.upstream.requests().every(({ closedAt }) => closedAt !== null))
    expect(it.rig.upstream.requests()).toMatchObject([{ closedBy: 'peer' }])
  })
})

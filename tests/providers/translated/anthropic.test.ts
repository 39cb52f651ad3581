import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { hello, jsonOf, type Json } from '../conformance/fixture'
import { startGateway, upstreamSecret } from '../../harness/server'
import { startFakeProvider } from '../../harness/upstreams/fake-provider'
import { startTranslation, type Translation } from './translation'

let it: Translation

beforeAll(async () => {
  it = await startTranslation('anthropic', '/messages', { auth: 'x-api-key' })
})
afterEach(() => {
  it.fixture.verify()
  it.fixture.rig.upstream.reset()
})
afterAll(() => it[Symbol.asyncDispose]())

const greeting = 'All is well at the fake provider today, thank you.'
const seen = () => it.fixture.rig.upstream.requests().at(-1)
const choiceIn = ({ choices }: Json): Json => jsonOf(Array.isArray(choices) ? choices[0] : {})
const messageIn = (body: Json): Json => jsonOf(choiceIn(body)['message'])

describe('text', () => {
  test('a whole answer, of a stream that was collected', async () => {
    const model = await it.fixture.model('ok')
    const answer = await it.fixture.client.chat.completions.create({ model, messages: hello })
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message: { content: greeting }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 2, completion_tokens: 10, total_tokens: 12 },
    })
    expect(it.fixture.sent()).toMatchObject({ model: 'ok', stream: true })
  })

  test('a stream, with the requested usage', async () => {
    const model = await it.fixture.model('ok')
    const stream = it.fixture.client.chat.completions.stream({
      model,
      messages: hello,
      stream_options: { include_usage: true },
    })
    const answer = await stream.finalChatCompletion()
    expect(answer.choices[0]?.message.content).toBe(greeting)
    expect(answer.choices[0]?.finish_reason).toBe('stop')
    expect(answer.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 10 })
  })

  test('only the request itself goes from the caller to the provider', async () => {
    await it.chat('ok', { user: 'u-1', stop: ['X'], max_tokens: 7, seed: 3 })
    const { path, headers, body } = seen() ?? {}
    expect(path).toBe('/v1/messages')
    expect(headers).toMatchObject({
      'x-api-key': upstreamSecret,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    })
    expect(headers).not.toHaveProperty('authorization')
    expect(JSON.stringify(headers)).not.toContain(it.fixture.customer.key)
    expect(body).toEqual({
      model: 'ok',
      max_tokens: 7,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say something.' }] }],
      stop_sequences: ['X'],
      // By another name than the customer's: the credential is the operator's.
      metadata: { user_id: expect.stringMatching(/^[\da-f]{48}$/) },
      stream: true,
    })
  })

  test('the output cap is always sent, and ends the answer', async () => {
    await it.chat('ok')
    expect(seen()?.cap).toBe(4096)
    const { body } = await it.chat('ok', { max_tokens: 3 })
    expect(choiceIn(body)).toMatchObject({
      message: { content: 'All is well' },
      finish_reason: 'length',
    })
    expect(body['usage']).toMatchObject({ completion_tokens: 3 })
  })

  test('a cap that cannot be paid for is lowered', async () => {
    const { gateway } = it.fixture.rig
    const poor = await gateway.customer({}, { credit: 0.01 })
    const model = await it.fixture.model('ok')
    await poor.client.chat.completions.create({ model, messages: hello, max_tokens: 4000 })
    expect(seen()?.cap).toBeGreaterThan(256)
    expect(seen()?.cap).toBeLessThan(4000)
  })

  test('legacy completions: each prompt is a conversation', async () => {
    const model = await it.fixture.model('ok')
    const params = { model, prompt: ['One', 'Two'], stop: 'X', max_tokens: 3 }
    const answer = await it.fixture.client.completions.create({ ...params, echo: true })
    expect(answer.choices).toMatchObject([
      { index: 0, text: 'OneAll is well', finish_reason: 'length' },
      { index: 1, text: 'TwoAll is well', finish_reason: 'length' },
    ])
    expect(answer.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 6 })
    const streamed = await it.fixture.client.completions.create({ ...params, stream: true })
    const texts = ['', '']
    for await (const { choices } of streamed) {
      for (const { index, text } of choices) texts[index] += text
    }
    expect(texts).toEqual(['All is well', 'All is well'])
    expect(it.fixture.sent()).toMatchObject({ max_tokens: 3, stop_sequences: ['X'] })
  })

  test('rejects more than one choice without a call of the provider', async () => {
    const answer = await it.chat('ok', { n: 2 })
    expect(answer.status).toBe(400)
    expect(answer.error).toMatchObject({
      code: 'invalid_request',
      param: 'n',
      details: { issue: 'unsupported_by_model' },
    })
    expect(seen()).toBeUndefined()
    expect((await it.booked(answer)).cost).toBe(0n)
  })
})

const weather = { name: 'get_weather', args: { city: 'São Paulo', unit: 'celsius' } }
const time = { name: 'get_time', args: { zone: 'America/Sao_Paulo' } }

describe('tools', () => {
  test.each([
    ['tool-fragments', [weather]],
    ['tool-together', [weather, time]],
    ['tool-no-args', [{ name: 'get_time', args: {} }]],
  ])('%s, whole and as a stream', async (name, wanted) => {
    const model = await it.fixture.model(name)
    const { completions } = it.fixture.client.chat
    const whole = await completions.create({ model, messages: hello })
    const streamed = await completions.stream({ model, messages: hello }).finalChatCompletion()
    for (const { choices } of [whole, streamed]) {
      const calls = (choices[0]?.message.tool_calls ?? []).map((call) => {
        if (call.type !== 'function') throw new Error(`a call of type ${call.type}`)
        return { name: call.function.name, args: JSON.parse(call.function.arguments) }
      })
      expect(calls).toEqual(wanted)
      expect(choices[0]?.finish_reason).toBe('tool_calls')
    }
    expect(whole.choices[0]?.message.content).toBeNull()
  })

  test('the requested call, and its result', async () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer' } } }
    const tools = [{ type: 'function', function: { name: 'count', parameters } }]
    const first = await it.chat('ok', { tools, tool_choice: 'required' })
    const message = messageIn(first.body)
    expect(message['tool_calls']).toMatchObject([
      { function: { name: 'count', arguments: '{"n":1}' } },
    ])
    const [call]: Json[] = Array.isArray(message['tool_calls']) ? message['tool_calls'] : []
    const result = { role: 'tool', tool_call_id: call?.['id'], content: 'one' }
    const second = await it.chat('ok', { tools, messages: [...hello, message, result] })
    expect(messageIn(second.body)['content']).toBe(greeting)
    expect(it.fixture.sent()['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use', id: call?.['id'], input: { n: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.['id'] }] },
    ])
  })

  test('functions, the older form, are answered in it', async () => {
    const fields = { functions: [{ name: 'get_weather' }] }
    const { body } = await it.chat('tool-fragments', fields)
    expect(choiceIn(body)).toMatchObject({
      message: { function_call: { name: 'get_weather' } },
      finish_reason: 'function_call',
    })
    const { text } = await it.stream('tool-fragments', fields)
    expect(text).toContain('"function_call":{"name":"get_weather","arguments":""}')
    expect(text).not.toContain('tool_calls')
  })
})

test('reasoning: signed thoughts come with the answer, and go back with the next request', async () => {
  const { body } = await it.chat('reasoning')
  const message = messageIn(body)
  expect(message).toMatchObject({
    content: 'Hello to you.',
    reasoning_content: 'The caller greets me, so I greet back.',
  })
  const [detail]: Json[] = Array.isArray(message['reasoning_details'])
    ? message['reasoning_details']
    : []
  const next: ChatCompletionMessageParam = { role: 'user', content: 'And?' }
  await it.chat('ok', { messages: [...hello, message, next] })
  const sent = it.fixture.sent()['messages']
  const { text: thinking, signature } = detail ?? {}
  expect(signature).toBeString()
  expect(sent).toMatchObject([
    {},
    {
      content: [
        { type: 'thinking', thinking, signature },
        { type: 'text', text: 'Hello to you.' },
      ],
    },
    {},
  ])
})

test('a key in the environment is a connection to the models of the catalogue', async () => {
  await using upstream = await startFakeProvider()
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ]
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  upstream.serve('claude-haiku-4-5', body)
  await using gateway = await startGateway({
    environment: {
      ANTHROPIC_API_KEY: upstreamSecret,
      ANTHROPIC_BASE_URL: upstream.url.replace('/v1', ''),
    },
  })
  gateway.recorder.canary(upstreamSecret)
  const { client } = await gateway.customer()
  const model = 'anthropic/claude-haiku-4-5'
  const { response, data } = await client.chat.completions
    .create({ model, messages: hello })
    .withResponse()
  expect(data).toMatchObject({ model, choices: [{ message: { content: 'Hi' } }] })
  expect(upstream.requests()[0]).toMatchObject({
    path: '/v1/messages',
    headers: { 'x-api-key': upstreamSecret },
    // As much as the model can write.
    cap: 64_000,
  })
  // 1 and 5 USD per million tokens.
  expect(response.headers.get('x-tollgate-cost')).toBe('0.000025')
  gateway.recorder.verify()
})

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import {
  choicesOf,
  chunksOf,
  hello,
  createFixture,
  textOf,
  type Json,
  type Fixture,
} from './fixture'

let fixture: Fixture
const path = '/v1/chat/completions'

beforeAll(async () => {
  fixture = await createFixture()
  await fixture.addProvider('plain', { developerRole: false, cacheControl: true })
  await fixture.addModel('plain/ok')
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const tool = {
  type: 'function' as const,
  function: { name: 'get_weather', parameters: { type: 'object', properties: {} } },
}

const inParts = (text: string) => [{ type: 'text' as const, text }]

test('sampling parameters reach the provider unchanged', async () => {
  const model = await fixture.model('ok')
  const tuning = {
    n: 3,
    stop: ['END', 'STOP'],
    seed: -9007199254740991,
    temperature: 0.25,
    top_p: 0.5,
    presence_penalty: -1.5,
    frequency_penalty: 2,
    logit_bias: { '50256': -100 },
    logprobs: true,
    top_logprobs: 4,
    user: 'somebody',
    service_tier: 'auto' as const,
  }
  const answer = await fixture.client.chat.completions.create({ model, messages: hello, ...tuning })
  expect(answer.choices.map(({ index }) => index)).toEqual([0, 1, 2])
  const user = expect.stringMatching(/^[\da-f]{48}$/)
  expect(fixture.sent()).toEqual({ model: 'ok', messages: hello, ...tuning, user })
})

test('R18: a field that many providers know reaches them, an unknown one is named, a null is dropped', async () => {
  const model = await fixture.model('ok')
  const known = { top_k: 40, chat_template_kwargs: { enable_thinking: false } }
  const nulls = {
    temperature: null,
    n: null,
    stop: null,
    tools: null,
    tool_choice: null,
    seed: null,
    stream: null,
    stream_options: null,
    response_format: null,
    user: null,
    made_up: null,
  }
  const response = await fixture.post(path, {
    model,
    messages: hello,
    safe: true,
    ...known,
    ...nulls,
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-tollgate-omitted')).toBe('safe')
  expect(fixture.sent()).toEqual({ model: 'ok', messages: hello, ...known })
})

test('the provider receives its own name of the model', async () => {
  const model = await fixture.model('known-as/a:b@c', { upstream_model: 'ok' })
  const answer = await fixture.client.chat.completions.create({ model, messages: hello })
  expect(fixture.sent()['model']).toBe('ok')
  expect(answer.model).toBe('fake/known-as/a:b@c')
})

test('a streamed answer is always requested with its usage', async () => {
  const model = await fixture.model('ok')
  for (const stream_options of [undefined, { include_usage: false }, { include_usage: true }]) {
    const body = {
      model,
      messages: hello,
      stream: true as const,
      ...(stream_options && { stream_options }),
    }
    await Array.fromAsync(await fixture.client.chat.completions.create(body))
    expect(fixture.sent()['stream_options']).toEqual({ include_usage: true })
  }
  await fixture.post(path, { model, messages: hello, stream_options: { include_usage: true } })
  expect(fixture.sent()).not.toHaveProperty('stream_options')
})

test('R20: either name of the output limit arrives, the newer one wins, zero means no limit', async () => {
  const model = await fixture.model('ok')
  const limitSent = async (limits: Json) => {
    await (await fixture.post(path, { model, messages: hello, ...limits })).text()
    const { max_tokens: older, max_completion_tokens: newer } = fixture.sent()
    return [older, newer].filter((limit) => limit !== undefined)
  }
  expect(await limitSent({ max_tokens: 7 })).toEqual([7])
  expect(await limitSent({ max_completion_tokens: 8 })).toEqual([8])
  expect(await limitSent({ max_tokens: 7, max_completion_tokens: 9 })).toEqual([9])
  expect(await limitSent({ max_tokens: 0, max_completion_tokens: 0 })).toEqual([])
  expect(await limitSent({})).toEqual([])
})

test('an empty list of tools is dropped, with the choice among them', async () => {
  const model = await fixture.model('ok')
  await fixture.post(path, {
    model,
    messages: hello,
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    stop: [],
  })
  expect(fixture.sent()).toEqual({ model: 'ok', messages: hello })
  await fixture.post(path, { model, messages: hello, tools: [tool], tool_choice: 'auto' })
  expect(fixture.sent()).toMatchObject({ tools: [tool], tool_choice: 'auto' })
})

test('R19: `developer` becomes `system` where the provider does not know it', async () => {
  const messages: ChatCompletionMessageParam[] = [
    { role: 'developer', content: 'Be brief.', name: 'boss' },
    ...hello,
  ]
  const model = await fixture.model('ok')
  await fixture.client.chat.completions.create({ model, messages })
  expect(fixture.sent()['messages']).toEqual(messages)
  await fixture.client.chat.completions.create({ model: 'plain/ok', messages })
  expect(fixture.sent()['messages']).toEqual([
    { role: 'system', content: 'Be brief.', name: 'boss' },
    ...hello,
  ])
})

test('R19: every role may have its content in parts, and every kind of part arrives', async () => {
  const pixel = 'data:image/png;base64,iVBORw0KGgo='
  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: inParts('Be brief.') },
    {
      role: 'user',
      content: [
        ...inParts('What is this?'),
        { type: 'image_url', image_url: { url: pixel, detail: 'low' } },
        { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
        },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'refusal', refusal: 'No.' }, ...inParts('Ask the tool.')],
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: inParts('sunny') },
  ]
  const model = await fixture.model('ok')
  await fixture.client.chat.completions.create({ model, messages })
  expect(fixture.sent()['messages']).toEqual(messages)
})

test('sends cache_control only to providers that support it', async () => {
  const part = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } }
  const messages = [{ role: 'system', content: [part] }, ...hello]
  const model = await fixture.model('ok')
  await fixture.post(path, { model, messages })
  expect(fixture.sent()['messages']).toEqual([
    { role: 'system', content: [{ type: 'text', text: 'Long.' }] },
    ...hello,
  ])
  await fixture.post(path, { model: 'plain/ok', messages })
  expect(fixture.sent()['messages']).toEqual(messages)
})

test('JSON modes and audio arrive; `audio` without its modality does not', async () => {
  const model = await fixture.model('ok')
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const json_schema = { name: 'place', schema, strict: true }
  const answer = await fixture.client.chat.completions.create({
    model,
    messages: hello,
    response_format: { type: 'json_schema', json_schema },
  })
  expect(fixture.sent()['response_format']).toEqual({ type: 'json_schema', json_schema })
  expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ city: 'text' })

  const loose = { model, messages: hello, response_format: { type: 'json_object' as const } }
  const streamed = await fixture.client.chat.completions.stream(loose).finalContent()
  expect(JSON.parse(streamed ?? '')).toEqual({ answer: 'ok' })

  const audio = { voice: 'alloy', format: 'wav' }
  await fixture.post(path, { model, messages: hello, modalities: ['text', 'audio'], audio })
  expect(fixture.sent()).toMatchObject({ audio, modalities: ['text', 'audio'] })
  await fixture.post(path, { model, messages: hello, modalities: ['text'], audio })
  expect(fixture.sent()).not.toHaveProperty('audio')
})

test('`reasoning {effort}` means the same as `reasoning_effort`', async () => {
  const model = await fixture.model('ok')
  await fixture.post(path, { model, messages: hello, reasoning: { effort: 'low' } })
  expect(fixture.sent()).toEqual({ model: 'ok', messages: hello, reasoning_effort: 'low' })
  await fixture.client.chat.completions.create({ model, messages: hello, reasoning_effort: 'high' })
  expect(fixture.sent()['reasoning_effort']).toBe('high')
})

test('sends reasoning of the history only to providers that require it', async () => {
  const reply = { role: 'assistant', content: 'Hi.', reasoning_content: 'Greet back.' }
  const messages = [...hello, reply, ...hello]
  const model = await fixture.model('ok')
  await fixture.post(path, { model, messages })
  expect(fixture.sent()['messages']).toEqual([
    ...hello,
    { role: 'assistant', content: 'Hi.' },
    ...hello,
  ])
})

test('nothing of the caller’s headers reaches the provider', async () => {
  const model = await fixture.model('ok')
  await fixture.client.chat.completions.create(
    { model, messages: hello },
    {
      headers: {
        'x-canary': 'canary',
        'openai-organization': 'org-canary',
        cookie: 'a=canary',
        'x-forwarded-for': '10.9.8.7',
        'idempotency-key': 'canary',
      },
    },
  )
  const { headers } = fixture.rig.upstream.requests().at(-1) ?? { headers: {} }
  expect(Object.keys(headers).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'authorization',
    'content-length',
    'content-type',
    'host',
    'user-agent',
    'x-tollgate-hops',
  ])
  expect(headers).toMatchObject({ 'user-agent': 'tollgate', 'accept-encoding': 'identity' })
  expect(JSON.stringify(headers)).not.toMatch(/org-canary|a=canary|10\.9\.8\.7|stainless/i)
  expect(JSON.stringify(headers)).not.toContain(fixture.customer.key)
})

test('the answer of a model that repeats its request shows the same', async () => {
  const model = await fixture.model('echo-request')
  const body = { model, messages: hello, tools: [], user: null, top_k: 3 }
  const response = await fixture.post(path, { ...body, stream: true, max_completion_tokens: 500 })
  const text = (await chunksOf(response)).flatMap(choicesOf).map(textOf).join('')
  expect(JSON.parse(text)).toEqual({
    model: 'echo-request',
    messages: hello,
    top_k: 3,
    max_tokens: 500,
    stream: true,
    stream_options: { include_usage: true },
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  choicesOf,
  chunksOf,
  failureOf,
  hello,
  jsonOf,
  createFixture,
  textOf,
  type Fixture,
} from './fixture'
import { isDeep } from '../../../server/testing/depth'

let fixture: Fixture
const path = '/v1/chat/completions'
const greeting = 'All is well at the fake provider today, thank you.'

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const streamed = async (name: string, fields = {}) =>
  chunksOf(
    await fixture.post(path, {
      model: await fixture.model(name),
      messages: hello,
      stream: true,
      ...fields,
    }),
  )

test('R9 R10: the chunks of a text are a role, its pieces, and an end; usage only on request', async () => {
  const chunks = await streamed('ok')
  const [first, ...rest] = chunks.flatMap(choicesOf)
  expect(first).toEqual({
    index: 0,
    delta: { role: 'assistant', content: '' },
    logprobs: null,
    finish_reason: null,
  })
  expect(rest.map(textOf).join('')).toBe(greeting)
  expect(rest.at(-1)).toEqual({ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' })
  expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual([])

  for (const wanted of [false, true]) {
    const answer = await streamed('ok', { stream_options: { include_usage: wanted } })
    const usage = answer.filter((chunk) => 'usage' in chunk)
    expect(usage).toHaveLength(wanted ? 1 : 0)
    if (!wanted) continue
    expect(answer.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 2, completion_tokens: 10, total_tokens: 12 },
    })
  }
})

test('n choices come whole, each with its own index, role and end', async () => {
  const model = await fixture.model('ok')
  const params = { model, messages: hello, n: 3 }
  const { choices } = await fixture.client.chat.completions.stream(params).finalChatCompletion()
  expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
    [0, greeting],
    [1, greeting],
    [2, greeting],
  ])
})

test('fields of a compatible provider pass through, its padding does not', async () => {
  const model = await fixture.model('unknown-fields')
  const whole = jsonOf(await (await fixture.post(path, { model, messages: hello })).json())
  const vendor = { trace: 'v1\r\nset-cookie: a=1' }
  const filter = { hate: { filtered: false } }
  expect(whole).toMatchObject({ x_vendor: vendor, choices: [{ content_filter_results: filter }] })
  for (const chunk of await streamed('unknown-fields')) {
    expect(chunk['x_vendor']).toEqual(vendor)
    expect(chunk).not.toHaveProperty('obfuscation')
    for (const choice of choicesOf(chunk)) expect(choice['content_filter_results']).toEqual(filter)
  }
})

test.each([
  'error-null',
  'role-each-chunk',
  'ids-vary',
  'model-differs',
  'created-string',
  'created-none',
  'usage-none',
  'usage-on-finish',
  'usage-cumulative',
  'usage-twice',
  'crlf-mix',
  'crlf',
  'cr',
  'bom',
  'comments',
  'no-space',
  'multi-data',
  ...(isDeep ? ['one-byte'] : []),
])('R4 R7 R9 R10: %s is the same stream as that of other providers', async (name) => {
  const chunks = await streamed(name, { stream_options: { include_usage: true } })
  const text = chunks.flatMap(choicesOf).map(textOf).join('')
  expect(text).toBe(greeting)
  const [first] = chunks
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({
      id: first?.['id'],
      created: first?.['created'],
      model: `fake/${name}`,
    })
  }
  expect(jsonOf(chunks.at(-1)?.['usage'])['total_tokens']).toBeGreaterThan(0)
})

test.each(['reasoning', 'reasoning-reasoning'])(
  '%s: thoughts are `reasoning_content`, for any field name of the provider',
  async (name) => {
    const model = await fixture.model(name)
    const whole = jsonOf(await (await fixture.post(path, { model, messages: hello })).json())
    const message = jsonOf(choicesOf(whole)[0]?.['message'])
    const thoughts = 'The caller greets me, so I greet back.'
    expect(message).toMatchObject({ content: 'Hello to you.', reasoning_content: thoughts })
    expect(message).not.toHaveProperty('reasoning')
    const deltas = (await streamed(name)).flatMap(choicesOf).map(({ delta }) => jsonOf(delta))
    const pieces = deltas.map((delta) => delta['reasoning_content'])
    expect(pieces.filter((piece) => typeof piece === 'string').join('')).toBe(thoughts)
    expect(deltas.some((delta) => 'reasoning' in delta)).toBeFalse()
  },
)

test('reasoning tokens are counted inside the completion', async () => {
  const model = await fixture.model('reasoning')
  const { usage } = await fixture.client.chat.completions.create({ model, messages: hello })
  expect(usage).toMatchObject({
    completion_tokens: 11,
    completion_tokens_details: { reasoning_tokens: 8 },
  })
})

test('a refusal is in `refusal`, whole and streamed', async () => {
  const model = await fixture.model('refusal')
  const params = { model, messages: hello }
  const whole = await fixture.client.chat.completions.create(params)
  const stream = await fixture.client.chat.completions.stream(params).finalChatCompletion()
  for (const { choices } of [whole, stream]) {
    expect(choices[0]?.message.refusal).toBe('I cannot help with that.')
    expect(choices[0]?.finish_reason).toBe('stop')
  }
})

test('log probabilities match the provider’s, token by token', async () => {
  const model = await fixture.model('ok')
  const params = { model, messages: hello, logprobs: true }
  const whole = await fixture.client.chat.completions.create(params)
  const stream = await fixture.client.chat.completions.stream(params).finalChatCompletion()
  const tokens = whole.choices[0]?.logprobs?.content ?? []
  expect(tokens.map(({ token }) => token).join('')).toBe(greeting)
  expect(stream.choices[0]?.logprobs?.content).toEqual(tokens)
})

test('an answer at its limit reports it', async () => {
  const model = await fixture.model('ok')
  const params = { model, messages: hello, max_tokens: 3 }
  const whole = await fixture.client.chat.completions.create(params)
  expect(whole.choices[0]).toMatchObject({
    finish_reason: 'length',
    message: { content: 'All is well' },
  })
  const [last] = (await streamed('ok', { max_tokens: 3 })).flatMap(choicesOf).toReversed()
  expect(last?.['finish_reason']).toBe('length')
})

test('text of every script arrives as it is, whole and streamed', async () => {
  const model = await fixture.model('unicode')
  const whole = await fixture.client.chat.completions.create({ model, messages: hello })
  const text = (await streamed('unicode')).flatMap(choicesOf).map(textOf).join('')
  expect(text).toBe(whole.choices[0]?.message.content ?? '')
  expect(text).toContain('你好 世界, 👩‍👩‍👧‍👦 family, עברית, \u{2028} end')
})

describe('rejections before any call of a provider', () => {
  test.each([
    ['no messages', { messages: [] }, { param: 'messages', issue: 'empty' }],
    [
      'an unknown role',
      { messages: [{ role: 'x', content: '' }] },
      { param: 'messages.0.role', issue: 'unknown_value' },
    ],
    ['too many choices', { n: 9 }, { param: 'n', issue: 'out_of_range' }],
    ['too hot', { temperature: 2.5 }, { param: 'temperature', issue: 'out_of_range' }],
    [
      'no content',
      { messages: [{ role: 'user' }] },
      { param: 'messages.0.content', issue: 'required' },
    ],
    [
      'a part of no kind',
      { messages: [{ role: 'user', content: [{ type: 'x' }] }] },
      { param: 'messages.0.content.0.type', issue: 'unknown_value' },
    ],
    [
      'an unnamed tool',
      {
        tools: [{ type: 'function', function: { name: 'a' } }],
        tool_choice: { type: 'function', function: { name: 'b' } },
      },
      { param: 'tool_choice.function.name', issue: 'unknown_value' },
    ],
    ['five stops', { stop: ['1', '2', '3', '4', '5'] }, { param: 'stop', issue: 'too_many' }],
    ['probabilities unasked', { top_logprobs: 2 }, { param: 'top_logprobs', issue: 'conflict' }],
  ])('%s', async (_what, fields, { param, issue }) => {
    const before = fixture.rig.upstream.requests().length
    const model = await fixture.model('ok')
    const response = await fixture.post(path, { model, messages: hello, ...fields })
    expect(response.status).toBe(400)
    expect(jsonOf(jsonOf(await response.json())['error'])).toMatchObject({
      code: 'invalid_request',
      param,
      details: { issue },
    })
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
  })
})

test('a limit above the model’s is rejected by name', async () => {
  const model = await fixture.model('ok')
  for (const field of ['max_tokens', 'max_completion_tokens']) {
    const params = { model, messages: hello, [field]: 5000 }
    expect(await failureOf(fixture.client.chat.completions.create(params))).toMatchObject({
      code: 'max_tokens_exceeded',
      param: field,
    })
  }
})

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { hello, createFixture, type Fixture } from './fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const definition = {
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}
const baseRequest = {
  messages: hello,
  functions: [definition],
  function_call: { name: 'get_weather' },
}

test('functions go up as tools and come back as a function call', async () => {
  const model = await fixture.model('ok')
  const answer = await fixture.client.chat.completions.create({ model, ...baseRequest })
  expect(fixture.sent()).toEqual({
    model: 'ok',
    messages: hello,
    tools: [{ type: 'function', function: definition }],
    tool_choice: { type: 'function', function: { name: 'get_weather' } },
  })
  const [choice] = answer.choices
  expect(choice?.finish_reason).toBe('function_call')
  expect(choice?.message).toEqual({
    role: 'assistant',
    content: null,
    refusal: null,
    function_call: { name: 'get_weather', arguments: '{"city":"text"}' },
  })
})

test('a stream of them is named once and adds up to the same', async () => {
  const model = await fixture.model('ok')
  const stream = await fixture.client.chat.completions.create({
    model,
    ...baseRequest,
    stream: true,
  })
  const choices = (await Array.fromAsync(stream)).flatMap((chunk) => chunk.choices)
  const calls = choices.flatMap(({ delta }) => delta.function_call ?? [])
  expect(calls[0]).toEqual({ name: 'get_weather', arguments: '' })
  expect(calls.slice(1).every(({ name }) => name === undefined)).toBeTrue()
  expect(calls.map((call) => call.arguments).join('')).toBe('{"city":"text"}')
  expect(choices.at(-1)?.finish_reason).toBe('function_call')
  expect(choices.some(({ delta }) => 'tool_calls' in delta)).toBeFalse()
})

test('the older answer has one call: of several, the first', async () => {
  const model = await fixture.model('tool-interleaved')
  const request = { model, messages: hello, functions: [definition] }
  const whole = await fixture.client.chat.completions.create(request)
  const stream = await fixture.client.chat.completions.create({ ...request, stream: true })
  const calls = (await Array.fromAsync(stream)).flatMap(
    ({ choices }) => choices[0]?.delta.function_call ?? [],
  )
  const called = whole.choices[0]?.message.function_call
  expect(called?.name).toBe('get_weather')
  expect(calls.flatMap(({ name }) => name ?? [])).toEqual(['get_weather'])
  expect(calls.map((call) => call.arguments).join('')).toBe(called?.arguments ?? 'none')
})

test('a history of function calls becomes one of tool calls, each result beside its call', async () => {
  const model = await fixture.model('ok')
  const call = { name: 'get_weather', arguments: '{}' }
  const messages: ChatCompletionMessageParam[] = [
    ...hello,
    { role: 'assistant', content: null, function_call: call },
    { role: 'function', name: 'get_weather', content: 'sunny' },
    { role: 'assistant', content: null, function_call: call },
    { role: 'function', name: 'get_weather', content: 'rain' },
  ]
  await fixture.client.chat.completions.create({ model, messages, functions: [definition] })
  expect(fixture.sent()['messages']).toEqual([
    ...hello,
    ...[1, 2].flatMap((number) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: `call_${number}`, type: 'function', function: call }],
      },
      { role: 'tool', tool_call_id: `call_${number}`, content: number === 1 ? 'sunny' : 'rain' },
    ]),
  ])
})

test('beside tools the older form is left out, and the answer is of today', async () => {
  const model = await fixture.model('ok')
  const answer = await fixture.client.chat.completions.create({
    model,
    messages: hello,
    functions: [{ name: 'other' }],
    function_call: 'none',
    tools: [{ type: 'function', function: definition }],
    tool_choice: 'required',
  })
  expect(fixture.sent()).not.toHaveProperty('functions')
  expect(fixture.sent()).not.toHaveProperty('function_call')
  expect(answer.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ function: { name: 'get_weather' } }] },
  })
})

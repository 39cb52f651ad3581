import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { failureOf, hello, createFixture, type Fixture } from './fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({
    provider: { options: { streamOnlyModels: ['ok', 'tool-', 'end-', 'reasoning'] } },
  })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

test('a model that only streams gives a whole answer when requested', async () => {
  const model = await fixture.model('ok')
  const answer = await fixture.client.chat.completions.create({ model, messages: hello, n: 2 })
  expect(fixture.sent()).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  expect(answer).toMatchObject({ object: 'chat.completion', model })
  expect(answer.choices.map(({ message }) => message.content)).toEqual(
    Array(2).fill('All is well at the fake provider today, thank you.'),
  )
  expect(answer.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 20, total_tokens: 22 })
})

test('its tool calls, reasoning and legacy functions are whole too', async () => {
  const tools = await fixture.client.chat.completions.create({
    model: await fixture.model('tool-interleaved'),
    messages: hello,
  })
  const [choice] = tools.choices
  expect(choice?.finish_reason).toBe('tool_calls')
  expect(choice?.message.content).toBeNull()
  const args = choice?.message.tool_calls?.map((call) =>
    call.type === 'function' ? JSON.parse(call.function.arguments) : undefined,
  )
  expect(args).toEqual([{ city: 'São Paulo', unit: 'celsius' }, { zone: 'America/Sao_Paulo' }])

  const legacy = await fixture.client.chat.completions.create({
    model: await fixture.model('tool-fragments'),
    messages: hello,
    functions: [{ name: 'get_weather' }],
  })
  expect(legacy.choices[0]).toMatchObject({
    finish_reason: 'function_call',
    message: { function_call: { name: 'get_weather' } },
  })

  const thinking = await fixture.client.chat.completions.create({
    model: await fixture.model('reasoning'),
    messages: hello,
  })
  expect(thinking.choices[0]?.message).toMatchObject({
    content: 'Hello to you.',
    reasoning_content: 'The caller greets me, so I greet back.',
  })
})

test('U08: a stream that ends early is not a whole answer', async () => {
  const model = await fixture.model('end-after-3')
  const failed = await failureOf(fixture.client.chat.completions.create({ model, messages: hello }))
  expect(failed).toMatchObject({ status: 502, code: 'provider_error' })
  expect(failed.message).toContain('a response that ended early')
})

test('legacy completions of several prompts are collected one by one', async () => {
  const model = await fixture.model('ok')
  const answer = await fixture.client.completions.create({ model, prompt: ['a', 'b', 'c'] })
  expect(answer.choices.map(({ index }) => index)).toEqual([0, 1, 2])
  expect(answer.usage?.completion_tokens).toBe(30)
})

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { failureOf, hello, type Json } from '../conformance/fixture'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from './front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({ CO_API_KEY: upstreamSecret, COHERE_BASE_URL: url }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const model = 'cohere/command-a-03-2025'
const say = (text: string): Json => ({
  type: 'content-delta',
  index: 0,
  delta: { message: { content: { text } } },
})
const end = (finish_reason: string): Json => ({
  type: 'message-end',
  delta: {
    finish_reason,
    usage: {
      billed_units: { input_tokens: 100, output_tokens: 10 },
      tokens: { input_tokens: 900, output_tokens: 20 },
    },
  },
})
const streamOf =
  (...events: Json[]) =>
  () =>
    eventsOf(...events)

test('a whole answer, of a collected stream; the billed usage is the paid one', async () => {
  front.answer = streamOf(say('Grüezi '), say('🍐'), end('COMPLETE'))
  const { response, data } = await front.customer.client.chat.completions
    .create({ model, messages: hello, max_tokens: 700 })
    .withResponse()
  expect(data).toMatchObject({
    model,
    choices: [{ message: { content: 'Grüezi 🍐' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  })
  // 2.50 and 10 USD per million tokens.
  expect(response.headers.get('x-tollgate-cost')).toBe('0.00035')
  const [request] = front.requests
  expect(request?.path).toBe('/v2/chat')
  expect(request?.headers.get('authorization')).toBe(`Bearer ${upstreamSecret}`)
  expect(request?.body).toEqual({
    model: 'command-a-03-2025',
    messages: [{ role: 'user', content: 'Say something.' }],
    max_tokens: 700,
    stream: true,
  })
})

test('a call without arguments has the text of an empty object, in a stream too', async () => {
  const call = { id: 'now_1', type: 'function', function: { name: 'now', arguments: 'null' } }
  front.answer = streamOf(
    { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: call } } },
    { type: 'tool-call-end', index: 0 },
    end('TOOL_CALL'),
  )
  const tools = [{ type: 'function' as const, function: { name: 'now', parameters: {} } }]
  const whole = await front.customer.client.chat.completions.create({
    model,
    messages: hello,
    tools,
  })
  const calls = [{ id: 'now_1', type: 'function', function: { name: 'now', arguments: '{}' } }]
  expect(whole.choices).toMatchObject([
    { finish_reason: 'tool_calls', message: { tool_calls: calls } },
  ])
  const stream = front.customer.client.chat.completions.stream({ model, messages: hello, tools })
  const { choices } = await stream.finalChatCompletion()
  expect(choices).toMatchObject([{ finish_reason: 'tool_calls', message: { tool_calls: calls } }])
})

test('an error in a finish reason is an error', async () => {
  front.answer = streamOf(say('a'), end('ERROR'))
  const failure = await failureOf(
    front.customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 502, code: 'provider_error' })
})

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf, hello, jsonOf, type Json } from '../conformance/stage'
import { startGateway, upstreamSecret, type Customer, type Gateway } from '../rig'

setDefaultTimeout(20_000)

/** A request as it reached the provider. */
interface Seen {
  path: string
  headers: Headers
  body: Json
}

const seen: Seen[] = []
let answer: () => Response
let upstream: Bun.Server<undefined>
let gateway: Gateway
let customer: Customer

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body: unknown = await request.json()
      const path = new URL(request.url).pathname
      seen.push({ path, headers: request.headers, body: jsonOf(body) })
      return answer()
    },
  })
  gateway = await startGateway({
    environment: {
      CO_API_KEY: upstreamSecret,
      COHERE_BASE_URL: `http://127.0.0.1:${upstream.port}`,
    },
  })
  gateway.recorder.canary(upstreamSecret)
  customer = await gateway.customer()
})
afterEach(() => {
  gateway.recorder.verify()
  seen.length = 0
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.stop(true)
})

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
    new Response(
      events
        .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
        .join(''),
      { headers: { 'content-type': 'text/event-stream' } },
    )

test('a whole answer, of a stream that was collected; what is billed is what is paid', async () => {
  answer = streamOf(say('Grüezi '), say('🍐'), end('COMPLETE'))
  const { response, data } = await customer.client.chat.completions
    .create({ model, messages: hello, max_tokens: 700 })
    .withResponse()
  expect(data).toMatchObject({
    model,
    choices: [{ message: { content: 'Grüezi 🍐' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  })
  // 2.50 and 10 USD per million tokens.
  expect(response.headers.get('x-tollgate-cost')).toBe('0.00035')
  const [request] = seen
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
  answer = streamOf(
    { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: call } } },
    { type: 'tool-call-end', index: 0 },
    end('TOOL_CALL'),
  )
  const tools = [{ type: 'function' as const, function: { name: 'now', parameters: {} } }]
  const whole = await customer.client.chat.completions.create({ model, messages: hello, tools })
  const calls = [{ id: 'now_1', type: 'function', function: { name: 'now', arguments: '{}' } }]
  expect(whole.choices).toMatchObject([
    { finish_reason: 'tool_calls', message: { tool_calls: calls } },
  ])
  const stream = customer.client.chat.completions.stream({ model, messages: hello, tools })
  const { choices } = await stream.finalChatCompletion()
  expect(choices).toMatchObject([{ finish_reason: 'tool_calls', message: { tool_calls: calls } }])
})

test('an error in a finish reason is an error', async () => {
  answer = streamOf(say('a'), end('ERROR'))
  const failure = await failureOf(
    customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 502, code: 'provider_error' })
})

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf, hello, isJson, jsonOf, type Json } from '../conformance/stage'
import { openDatabase } from '../database'
import { askRaw } from '../faults/asking'
import { bookedOf } from '../money/till'
import { parseResponse } from '../raw-client'
import { startGateway, upstreamSecret, type Customer, type Gateway } from '../rig'

setDefaultTimeout(20_000)

/** A request as it reached the provider. */
interface Seen {
  url: URL
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
      seen.push({ url: new URL(request.url), headers: request.headers, body: jsonOf(body) })
      return answer()
    },
  })
  gateway = await startGateway({
    environment: {
      GEMINI_API_KEY: upstreamSecret,
      GOOGLE_BASE_URL: `http://127.0.0.1:${upstream.port}/v1beta`,
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

const model = 'google/gemini-2.5-flash'
const said = (parts: Json[], rest: Json = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...rest }],
})
/** Events with nothing behind the last one, as Google ends its streams. */
const streamOf =
  (...events: Json[]) =>
  () =>
    new Response(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    })
const refusal = (status: number, error: Json) => (): Response =>
  Response.json({ error: { code: status, message: 'No.', ...error } }, { status })
const turnsSeen = (): Json[] => {
  const contents = seen.at(-1)?.body['contents']
  return Array.isArray(contents) ? contents.filter(isJson) : []
}

const usageMetadata = {
  promptTokenCount: 1000,
  candidatesTokenCount: 300,
  thoughtsTokenCount: 700,
  totalTokenCount: 2000,
}

test('a whole answer, of a stream that was collected; thoughts are paid as output', async () => {
  answer = streamOf(said([{ text: 'Let me see.', thought: true }]), said([{ text: 'Hi 🍐' }]), {
    ...said([{ text: '' }], { finishReason: 'STOP' }),
    usageMetadata,
  })
  const { response, data } = await customer.client.chat.completions
    .create({ model, messages: hello, max_tokens: 2000 })
    .withResponse()
  expect(data).toMatchObject({
    model,
    choices: [
      {
        message: { content: 'Hi 🍐', reasoning_content: 'Let me see.' },
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 1000,
      total_tokens: 2000,
      completion_tokens_details: { reasoning_tokens: 700 },
    },
  })
  // 0.30 and 2.50 USD per million tokens.
  expect(response.headers.get('x-tollgate-cost')).toBe('0.0028')
})

test('nothing but the request goes to the provider, and the key in no address', async () => {
  answer = streamOf(said([{ text: 'Hi' }], { finishReason: 'STOP' }))
  await customer.client.chat.completions.create({ model, messages: hello, max_tokens: 7 })
  const request = seen[0]
  expect(`${request?.url.pathname}${request?.url.search}`).toBe(
    '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  )
  expect(request?.headers.get('x-goog-api-key')).toBe(upstreamSecret)
  expect(request?.headers.get('authorization')).toBeNull()
  expect(request?.body).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Say something.' }] }],
    generationConfig: { maxOutputTokens: 7, thinkingConfig: { includeThoughts: true } },
  })
})

test('a signature comes back from a client that knows nothing of it', async () => {
  const call = { functionCall: { name: 'weather', args: { city: 'Oslo' } } }
  answer = streamOf(
    said([{ ...call, thoughtSignature: 'ab+/cd==' }, call]),
    said([{ text: '' }], { finishReason: 'STOP' }),
  )
  const tools = [{ type: 'function' as const, function: { name: 'weather' } }]
  const stream = customer.client.chat.completions.stream({ model, messages: hello, tools })
  const { message, finish_reason: reason } = (await stream.finalChatCompletion()).choices[0] ?? {}
  expect(reason).toBe('tool_calls')
  const calls = (message?.tool_calls ?? []).flatMap((made) =>
    made.type === 'function' ? { id: made.id, type: made.type, function: made.function } : [],
  )
  expect(calls.map((made) => made.function.arguments)).toEqual(Array(2).fill('{"city":"Oslo"}'))
  answer = streamOf(said([{ text: 'Rain.' }], { finishReason: 'STOP' }))
  await customer.client.chat.completions.create({
    model,
    tools,
    messages: [
      ...hello,
      {
        role: 'assistant',
        tool_calls: calls.map(({ id, function: { name, arguments: args } }) => ({
          id,
          type: 'function',
          function: { name, arguments: args },
        })),
      },
      ...calls.toReversed().map(({ id }) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: `wet ${calls.findIndex((made) => made.id === id)}`,
      })),
    ],
  })
  const [, asked, told] = turnsSeen()
  expect(asked?.['parts']).toMatchObject([{ ...call, thoughtSignature: 'ab+/cd==' }, call])
  expect(JSON.stringify(asked)).not.toContain('__thought__')
  expect(told?.['parts']).toMatchObject([
    { functionResponse: { response: { content: 'wet 0' } } },
    { functionResponse: { response: { content: 'wet 1' } } },
  ])
})

test('a bad key, which is a 400 there, is not the caller’s fault', async () => {
  answer = refusal(400, {
    status: 'INVALID_ARGUMENT',
    message: `API key not valid: ${upstreamSecret}`,
  })
  const failure = await failureOf(
    customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 502, code: 'provider_error' })
  expect(failure.headers?.get('x-should-retry')).toBe('false')
})

test('a quota that is used up says how long to wait', async () => {
  const type = 'type.googleapis.com/google.rpc.RetryInfo'
  answer = refusal(429, {
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': type, retryDelay: '34.4s' }],
  })
  const failure = await failureOf(
    customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 503, code: 'provider_error' })
  expect(failure.headers?.get('retry-after')).toBe('35')
})

test('an answer that ends without a finish reason is no answer', async () => {
  answer = streamOf(said([{ text: 'Hi' }]))
  const failure = await failureOf(
    customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 502, code: 'provider_error' })
})

const encoded = async (make: () => Response) => new Uint8Array(await make().arrayBuffer())

test('S01: a caller who leaves pays for the whole answer, by the count at its end', async () => {
  const rest = Promise.withResolvers<void>()
  const first = await encoded(streamOf(said([{ text: 'Hi' }])))
  const last = await encoded(
    streamOf({ ...said([{ text: ' there' }], { finishReason: 'STOP' }), usageMetadata }),
  )
  answer = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(first)
          await rest.promise
          controller.enqueue(last)
          controller.close()
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    )
  using client = await askRaw(gateway, {
    key: customer.key,
    body: { model, messages: hello, stream: true },
  })
  await client.until((received) => received.includes('"Hi"'))
  const id = parseResponse(client.read())?.headers.find(([name]) => name === 'x-request-id')?.[1]
  client.close()
  await Bun.sleep(200)
  rest.resolve()
  const sql = await openDatabase(gateway.dataDir)
  const [event] = await bookedOf(sql, [id ?? ''])
  expect(event).toMatchObject({ outcome: 'cancelled', estimated: false, cost: 2_800_000n })
  await sql.close()
})

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { failureOf, hello, isJson, type Json } from '../conformance/fixture'
import { sendRaw, untilNoticed } from '../../harness/http'
import { findBooked } from '../../harness/ledger'
import { parseResponse } from '../../harness/raw-client'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from './front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const model = 'google/gemini-2.5-flash'
const contentEvent = (parts: Json[], rest: Json = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...rest }],
})
const streamOf =
  (...events: Json[]) =>
  () =>
    eventsOf(...events)
const refusal = (status: number, error: Json) => (): Response =>
  Response.json({ error: { code: status, message: 'No.', ...error } }, { status })
const turnsSeen = (): Json[] => {
  const contents = front.requests.at(-1)?.body['contents']
  return Array.isArray(contents) ? contents.filter(isJson) : []
}

const usageMetadata = {
  promptTokenCount: 1000,
  candidatesTokenCount: 300,
  thoughtsTokenCount: 700,
  totalTokenCount: 2000,
}

test('a whole answer, of a stream that was collected; thoughts are paid as output', async () => {
  front.answer = streamOf(
    contentEvent([{ text: 'Let me see.', thought: true }]),
    contentEvent([{ text: 'Hi 🍐' }]),
    {
      ...contentEvent([{ text: '' }], { finishReason: 'STOP' }),
      usageMetadata,
    },
  )
  const { response, data } = await front.customer.client.chat.completions
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
  front.answer = streamOf(contentEvent([{ text: 'Hi' }], { finishReason: 'STOP' }))
  await front.customer.client.chat.completions.create({ model, messages: hello, max_tokens: 7 })
  const request = front.requests[0]
  expect(request?.path).toBe('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse')
  expect(request?.headers.get('x-goog-api-key')).toBe(upstreamSecret)
  expect(request?.headers.get('authorization')).toBeNull()
  expect(request?.body).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Say something.' }] }],
    generationConfig: { maxOutputTokens: 7, thinkingConfig: { includeThoughts: true } },
  })
})

test('a signature comes back from a client that knows nothing of it', async () => {
  const call = { functionCall: { name: 'weather', args: { city: 'Oslo' } } }
  front.answer = streamOf(
    contentEvent([{ ...call, thoughtSignature: 'ab+/cd==' }, call]),
    contentEvent([{ text: '' }], { finishReason: 'STOP' }),
  )
  const tools = [{ type: 'function' as const, function: { name: 'weather' } }]
  const stream = front.customer.client.chat.completions.stream({ model, messages: hello, tools })
  const { message, finish_reason: reason } = (await stream.finalChatCompletion()).choices[0] ?? {}
  expect(reason).toBe('tool_calls')
  const calls = (message?.tool_calls ?? []).flatMap((made) =>
    made.type === 'function' ? { id: made.id, type: made.type, function: made.function } : [],
  )
  expect(calls.map((made) => made.function.arguments)).toEqual(Array(2).fill('{"city":"Oslo"}'))
  front.answer = streamOf(contentEvent([{ text: 'Rain.' }], { finishReason: 'STOP' }))
  await front.customer.client.chat.completions.create({
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
  const [, callTurn, resultTurn] = turnsSeen()
  expect(callTurn?.['parts']).toMatchObject([{ ...call, thoughtSignature: 'ab+/cd==' }, call])
  expect(JSON.stringify(callTurn)).not.toContain('__thought__')
  expect(resultTurn?.['parts']).toMatchObject([
    { functionResponse: { response: { content: 'wet 0' } } },
    { functionResponse: { response: { content: 'wet 1' } } },
  ])
})

test('a bad key, which is a 400 there, is not the caller’s fault', async () => {
  front.answer = refusal(400, {
    status: 'INVALID_ARGUMENT',
    message: `API key not valid: ${upstreamSecret}`,
  })
  const failure = await failureOf(
    front.customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 502, code: 'provider_error' })
  expect(failure.headers?.get('x-should-retry')).toBe('false')
})

test('an exhausted quota has the time to wait', async () => {
  const type = 'type.googleapis.com/google.rpc.RetryInfo'
  front.answer = refusal(429, {
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': type, retryDelay: '34.4s' }],
  })
  const failure = await failureOf(
    front.customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 503, code: 'provider_error' })
  expect(failure.headers?.get('retry-after')).toBe('35')
})

test('an answer that ends without a finish reason is rejected', async () => {
  front.answer = streamOf(contentEvent([{ text: 'Hi' }]))
  const failure = await failureOf(
    front.customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 502, code: 'provider_error' })
})

const encoded = async (make: () => Response) => new Uint8Array(await make().arrayBuffer())

test('S01: a client that disconnects pays for the whole answer, by the usage at its end', async () => {
  const rest = Promise.withResolvers<void>()
  const first = await encoded(streamOf(contentEvent([{ text: 'Hi' }])))
  const last = await encoded(
    streamOf({ ...contentEvent([{ text: ' there' }], { finishReason: 'STOP' }), usageMetadata }),
  )
  front.answer = () =>
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
  using client = await sendRaw(front.gateway, {
    key: front.customer.key,
    body: { model, messages: hello, stream: true },
  })
  await client.until((received) => received.includes('"Hi"'))
  const id = parseResponse(client.read())?.headers.find(([name]) => name === 'x-request-id')?.[1]
  client.close()
  await untilNoticed(front.gateway)
  rest.resolve()
  const [event] = await findBooked(front.sql, [id ?? ''])
  expect(event).toMatchObject({ outcome: 'cancelled', estimated: false, cost: 2_800_000n })
})

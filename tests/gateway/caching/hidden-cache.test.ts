import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { events, greeting, streamOf } from '../dialects/claude'
import { completion } from '../../harness/byok'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import { readLog } from '../../harness/request-log'
import { upstreamSecret, type Customer } from '../../harness/server'
import { eventsOf, openFront, type Front } from '../../providers/translated/front'

const hello = [{ role: 'user', content: 'Hello' }]
const pricing = { input: 10, output: 1, cached_input: 1, cache_write: 12.5 }
/** In each, 100 tokens of a prompt of 110, 90 of them from a cache: 20 at 10 USD a million, 90 at 1, and 3 of output. */
const cost = 293_000n

const chatUsage = {
  prompt_tokens: 110,
  completion_tokens: 3,
  total_tokens: 113,
  prompt_tokens_details: { cached_tokens: 90 },
  prompt_cache_hit_tokens: 90,
  prompt_cache_miss_tokens: 20,
}
const messageUsage = { input_tokens: 20, cache_read_input_tokens: 90, output_tokens: 3 }
const responseUsage = {
  input_tokens: 110,
  input_tokens_details: { cached_tokens: 90 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 113,
}

const chunk = (fields: Json) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [],
  ...fields,
})
const delta = (content: Json, finish_reason: string | null) => ({
  index: 0,
  delta: content,
  finish_reason,
  usage: { cached_tokens: 90 },
})

async function answerChat({ body }: { body: Json }): Promise<Response> {
  if (body['stream'] === true) {
    return eventsOf(
      chunk({
        choices: [delta({ role: 'assistant', content: 'Hi' }, null)],
        timings: { cache_n: 90 },
      }),
      chunk({ choices: [delta({}, 'stop')] }),
      chunk({ usage: chatUsage, timings: { cache_n: 90 } }),
      '[DONE]',
    )
  }
  const whole: Json = JSON.parse(await completion('Hi').text())
  return Response.json({ ...whole, usage: chatUsage, timings: { cache_n: 90 } })
}

const answerText = ({ body }: { body: Json }): Response => {
  const head = { id: 't', object: 'text_completion' }
  const choices = [{ index: 0, text: 'Hi', finish_reason: 'stop', logprobs: null }]
  if (body['stream'] !== true) return Response.json({ ...head, choices, usage: chatUsage })
  return eventsOf({ ...head, choices }, { ...head, choices: [], usage: chatUsage }, '[DONE]')
}

function answerMessage({ body }: { body: Json }): Response {
  if (body['stream'] !== true) return Response.json({ ...greeting, usage: messageUsage })
  return streamOf(
    events.map((event) => {
      if (event['type'] === 'message_start') {
        return {
          ...event,
          message: { ...greeting, content: [], usage: { ...messageUsage, output_tokens: 1 } },
        }
      }
      return event['type'] === 'message_delta' ? { ...event, usage: messageUsage } : event
    }),
  )
}

function answerResponse({ body }: { body: Json }): Response {
  const text = { type: 'output_text', text: 'Hi', annotations: [] }
  const item = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [text],
  }
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [item] }
  const done = { ...response, usage: responseUsage }
  if (body['stream'] !== true) return Response.json(done)
  return eventsOf(
    { type: 'response.created', sequence_number: 0, response: { ...response, output: [] } },
    { type: 'response.completed', sequence_number: 1, response: done },
  )
}

const answers: Record<string, (request: { body: Json }) => Response | Promise<Response>> = {
  '/chat/completions': answerChat,
  '/completions': answerText,
  '/v1/messages': answerMessage,
  '/responses': answerResponse,
}

/** Every way in, to a provider of every format. */
const ways: readonly [path: string, model: string, body: Json][] = [
  ['/v1/chat/completions', 'engine/one', { messages: hello }],
  ['/v1/chat/completions', 'claude/one', { messages: hello }],
  ['/v1/completions', 'engine/text', { prompt: 'Hello' }],
  ['/v1/completions', 'claude/one', { prompt: 'Hello' }],
  ['/v1/messages', 'claude/one', { messages: hello, max_tokens: 20 }],
  ['/v1/messages', 'engine/one', { messages: hello, max_tokens: 20 }],
  ['/v1/responses', 'openly/one', { input: 'Hello' }],
  ['/v1/responses', 'engine/one', { input: 'Hello' }],
  ['/v1/responses', 'claude/one', { input: 'Hello' }],
]

const providers: readonly [key: string, adapter: string, options: Json][] = [
  ['engine', 'openai', {}],
  ['claude', 'anthropic', {}],
  ['openly', 'openai', { takesResponses: true }],
]

/** A count of a cache that is not zero, under whatever name. */
const cacheCount = /"[\w]*(?:cache|cached)[\w]*":\s*(?!0\b|\{|\[|null|false|"")/

let front: Front
let customer: Customer

/** A gateway with the three providers, whose connections have these options. */
async function open(environment: Json, options: Json): Promise<void> {
  front = await openFront(() => environment)
  const { admin } = front.gateway
  for (const [key, adapter, quirks] of providers) {
    const provider = { key, name: key, adapter, base_url: front.url, options: quirks }
    await admin('POST', '/providers', provider)
    const connection = { name: key, provider: key, api_key: upstreamSecret, options }
    await admin('POST', '/connections', connection)
  }
  const models = new Set(ways.map(([, model]) => model))
  for (const model of models) {
    const category = model.endsWith('/text') ? 'completion' : 'chat'
    await front.price(model, { name: model, category, pricing })
  }
  front.answer = (request) =>
    answers[request.path]?.(request) ?? new Response(null, { status: 404 })
  customer = await front.gateway.customer({ permissions: ['admin'] })
}

const ask = (path: string, body: Json) =>
  sendRequest(front.gateway, { path, key: customer.key, body })

const logOf = (answer: Answer) => readLog(front.gateway, customer, answer)

describe.each<[string, Json, Json]>([
  ['by its connection', {}, { hide_cached_tokens: true }],
  ['by the configuration', { HIDE_CACHED_TOKENS: 'true' }, {}],
])('finding S26: cache reads, hidden %s', (_how, environment, options) => {
  beforeAll(() => open(environment, options))
  afterEach(() => front.reset())
  afterAll(() => front[Symbol.asyncDispose]())

  for (const stream of [false, true]) {
    test.each(ways)(
      `%s of %s, ${stream ? 'streamed' : 'whole'}, costs the same and shows no count of it`,
      async (path, model, body) => {
        const isChat = path.endsWith('completions')
        const streamed = {
          stream: true,
          ...(isChat && { stream_options: { include_usage: true } }),
        }
        const answer = await ask(path, { model, ...body, ...(stream && streamed) })
        expect(answer.status).toBe(200)
        expect(answer.text).not.toMatch(cacheCount)
        expect(answer.text).not.toContain('cache_n')
        expect(answer.text).toContain('110')
        expect((await front.booked(answer)).cost).toBe(cost)
        expect(await logOf(answer)).toMatchObject({
          input_tokens: 110,
          cached_tokens: 0,
          cache_write_tokens: 0,
          cache_savings: 0,
        })
      },
    )
  }
})

describe('finding S26: cache reads, if not hidden', () => {
  beforeAll(() => open({ HIDE_CACHED_TOKENS: 'true' }, { hide_cached_tokens: false }))
  afterEach(() => front.reset())
  afterAll(() => front[Symbol.asyncDispose]())

  test.each(ways)('is shown by %s of %s', async (path, model, body) => {
    const answer = await ask(path, { model, ...body })
    expect(answer.text).toMatch(cacheCount)
    expect(await front.booked(answer)).toMatchObject({ cost })
    expect(await logOf(answer)).toMatchObject({ input_tokens: 110, cached_tokens: 90 })
  })
})

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { inChat, inConverse, inMessages, session, type Breakpoint } from './session'
import { isJson, type Json } from '../../providers/conformance/fixture'
import { sendRequest } from '../../harness/http'
import { events, streamOf } from '../dialects/claude'
import { upstreamSecret } from '../../harness/server'
import { frame, streamOf as framesOf } from '../../providers/translated/aws-frames'
import {
  eventsOf,
  openFront,
  type Front,
  type ProviderRequest,
} from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
    AWS_BEARER_TOKEN_BEDROCK: upstreamSecret,
    BEDROCK_BASE_URL: url,
    VERTEX_API_KEY: upstreamSecret,
    VERTEX_BASE_URL: `${url}/v1/projects/p-1/locations/global`,
    OPENROUTER_API_KEY: upstreamSecret,
    OPENROUTER_BASE_URL: `${url}/openrouter`,
    DASHSCOPE_API_KEY: upstreamSecret,
    DASHSCOPE_BASE_URL: `${url}/dashscope`,
  }))
  front.answer = answerTo
  await Promise.all(routes.map(({ model, fields }) => front.price(model, fields)))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

interface Route {
  model: string
  /** Of a model that is not in the catalogue. */
  fields?: Json
  read: (body: Json) => Breakpoint[]
  /** What of the client's breakpoints there are on this route. */
  takes?: (breakpoint: Breakpoint) => Breakpoint | undefined
}

const unchanged = (breakpoint: Breakpoint): Breakpoint | undefined => breakpoint

const chatModel = (upstream: string): Json => ({
  upstream_model: upstream,
  capabilities: { tools: true },
})

const routes: Route[] = [
  { model: 'anthropic/claude-sonnet-4-6', read: inMessages },
  { model: 'vertex/claude-sonnet-4-6', read: inMessages },
  {
    model: 'bedrock/us.anthropic.claude-sonnet-4-6',
    read: inConverse,
  },
  {
    model: 'openrouter/anthropic/claude-for-tests',
    fields: chatModel('anthropic/claude-sonnet-4.6'),
    read: inChat,
  },
  {
    model: 'dashscope/qwen-for-tests',
    fields: chatModel('qwen3-coder-plus'),
    read: inChat,
    // Tools cannot be marked there, and there is one lifetime.
    takes: (breakpoint) =>
      breakpoint.startsWith('run') ? undefined : breakpoint.replace(' 1h', ''),
  },
]

const converse = framesOf(
  frame('event', 'contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } }),
  frame('event', 'messageStop', { stopReason: 'end_turn' }),
  frame('event', 'metadata', { usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 } }),
)

function answerToChat({ model, stream }: Json): Response {
  const head = { id: 'c', created: 1, model }
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
  const reply = { role: 'assistant', content: 'Hi' }
  if (!stream) {
    const choices = [{ index: 0, message: reply, finish_reason: 'stop' }]
    return Response.json({ ...head, object: 'chat.completion', choices, usage })
  }
  const choices = [{ index: 0, delta: reply, finish_reason: 'stop' }]
  return eventsOf({ ...head, object: 'chat.completion.chunk', choices, usage }, '[DONE]')
}

function answerTo({ path, body }: ProviderRequest): Response {
  if (path.endsWith('/converse-stream')) return converse()
  if (path.endsWith('/chat/completions')) return answerToChat(body)
  return streamOf(events)
}

const turns = Array.from({ length: 21 }, (_, at) => at)
const isThere = (breakpoint: Breakpoint | undefined) => breakpoint !== undefined

const send = async (path: string, body: Json, headers: Record<string, string> = {}) => {
  const answer = await sendRequest(front.gateway, { path, key: front.customer.key, headers, body })
  expect(answer).toMatchObject({ status: 200 })
  return front.requests.at(-1)?.body ?? {}
}

const formats = [
  ['messages', '/v1/messages', { stream: true }],
  ['chat', '/v1/chat/completions', {}],
] as const

describe('finding P3: a session of 20 turns with results of tools keeps the breakpoints of its client', () => {
  for (const { model, read, takes = unchanged } of routes) {
    test.each(formats)(`as %s to ${model}`, async (format, path, fields) => {
      for (const turn of turns) {
        const received = await send(path, { model, ...fields, ...session[format](turn) })
        const breakpoints = session.breakpoints(turn).map(takes).filter(isThere)
        expect(read(received)).toEqual(breakpoints)
      }
    })
  }

  test('a provider that caches by itself receives none, and the same texts', async () => {
    await front.gateway.admin('POST', '/providers', {
      key: 'plain',
      name: 'Plain',
      adapter: 'openai',
      base_url: `${front.url}/plain`,
    })
    await front.gateway.admin('POST', '/connections', {
      name: 'plain',
      provider: 'plain',
      api_key: upstreamSecret,
    })
    const model = 'plain/any'
    await front.price(model, chatModel('any'))
    const received = await send('/v1/messages', {
      model,
      ...session.messages(2),
      cache_control: { type: 'ephemeral' },
    })
    expect(JSON.stringify(received)).not.toContain('cache_control')
    // Of calls and results many of these take no parts.
    expect(received['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', content: 'step 1' },
      { role: 'tool', content: 'result 1' },
      { role: 'assistant', content: 'step 2' },
      { role: 'tool', content: 'result 2' },
    ])
  })
})

/** A request without breakpoints: a tool, instructions, and a conversation of two turns. */
const unmarked = (format: 'messages' | 'chat') => {
  const body: unknown = JSON.parse(
    JSON.stringify(session[format](1), (name, value: unknown) =>
      name === 'cache_control' ? undefined : value,
    ),
  )
  if (!isJson(body)) throw new Error('This is no request.')
  return body
}
const automatic = (ttl: string) =>
  ['run', 'The project is large.', 'result 0', 'result 1'].map((what) => `${what}${ttl}`)

describe('breakpoints that Tollgate sets', () => {
  for (const { model, read, takes = unchanged } of routes) {
    test.each(formats)(
      `by a header of the request: as %s to ${model}`,
      async (format, path, fields) => {
        const body = { model, ...fields, ...unmarked(format) }
        expect(read(await send(path, body))).toEqual([])
        for (const [value, ttl] of [
          ['5m', ''],
          ['1h', ' 1h'],
        ] as const) {
          const received = await send(path, body, { 'x-tollgate-prompt-caching': value })
          expect(read(received)).toEqual(automatic(ttl).map(takes).filter(isThere))
        }
      },
    )

    test.each(formats)(
      `are absent if the client set its own: as %s to ${model}`,
      async (format, path, fields) => {
        const body = { model, ...fields, ...session[format](3) }
        const received = await send(path, body, { 'x-tollgate-prompt-caching': '5m' })
        expect(read(received)).toEqual(session.breakpoints(3).map(takes).filter(isThere))
      },
    )
  }

  test('by an option of the connection, which a request can refuse', async () => {
    await front.gateway.admin('POST', '/connections', {
      name: 'caching',
      provider: 'anthropic',
      api_key: upstreamSecret,
      endpoint_url: front.url,
      is_default: true,
      options: { prompt_caching: '1h' },
    })
    const model = 'anthropic/claude-sonnet-4-6'
    for (const [format, path, fields] of formats) {
      const body = { model, ...fields, ...unmarked(format) }
      expect(inMessages(await send(path, body))).toEqual(automatic(' 1h'))
      const refused = await send(path, body, { 'x-tollgate-prompt-caching': 'off' })
      expect(inMessages(refused)).toEqual([])
    }
  })

  test.each([
    ['anthropic', 'claude-sonnet-4-6', inMessages],
    ['bedrock', 'us.anthropic.claude-sonnet-4-6', inConverse],
    ['openrouter', 'anthropic/claude-sonnet-4.6', inChat],
  ])(
    'are of five minutes if a price has a rate for writing and none for an hour: %s',
    async (provider, upstream, read) => {
      const model = `${provider}/claude-without-an-hour`
      const pricing = { input: 3, output: 15, cache_write: 3.75 }
      await front.price(model, { ...chatModel(upstream), pricing })
      for (const [format, path, fields] of formats) {
        const body = { model, ...fields, ...unmarked(format) }
        const received = await send(path, body, { 'x-tollgate-prompt-caching': '1h' })
        expect(read(received)).toEqual(automatic(''))
      }
    },
  )

  test('an invalid header value is rejected by name', async () => {
    const answer = await sendRequest(front.gateway, {
      path: '/v1/chat/completions',
      key: front.customer.key,
      headers: { 'x-tollgate-prompt-caching': 'yes' },
      body: { model: 'vertex/claude-sonnet-4-6', ...unmarked('chat') },
    })
    expect(answer).toMatchObject({
      status: 400,
      error: { code: 'invalid_request', param: 'x-tollgate-prompt-caching' },
    })
    expect(front.requests).toEqual([])
  })
})

describe('a breakpoint of a whole request', () => {
  const whole = { cache_control: { type: 'ephemeral', ttl: '1h' } }

  test.each([
    ['vertex/claude-sonnet-4-6', inMessages, ' 1h'],
    ['bedrock/us.anthropic.claude-sonnet-4-6', inConverse, ' 1h'],
    ['dashscope/qwen-for-tests', inChat, ''],
  ])('stands behind the last message: %s', async (model, read, ttl) => {
    for (const [format, path, fields] of formats) {
      const received = await send(path, { model, ...fields, ...unmarked(format), ...whole })
      expect(read(received)).toEqual([`result 1${ttl}`])
      expect(received).not.toHaveProperty('cache_control')
    }
  })

  test('is passed on to the provider that supports it', async () => {
    const openRouter = { model: 'openrouter/anthropic/claude-for-tests', ...unmarked('chat') }
    expect(await send('/v1/chat/completions', { ...openRouter, ...whole })).toMatchObject(whole)
    const anthropic = {
      model: 'anthropic/claude-sonnet-4-6',
      ...unmarked('messages'),
      stream: true,
    }
    expect(await send('/v1/messages', { ...anthropic, ...whole })).toMatchObject(whole)
  })
})

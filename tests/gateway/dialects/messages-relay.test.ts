import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { claude, events, framesOf, head, greeting, start, streamOf, usage } from './claude'
import { failureOf, messages, path } from './messages-fixture'
import { readMessage } from '../../../server/testing/protocols/messages-events'
import type { Json } from '../../providers/conformance/fixture'
import { sendRequest, sendRaw } from '../../harness/http'
import { priceOf } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

const base = { model: claude, max_tokens: 100, messages }

let front: Front
let client: Anthropic

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
  await front.price(claude)
  client = new Anthropic({
    apiKey: front.customer.key,
    authToken: null,
    baseURL: front.gateway.url,
    maxRetries: 0,
    fetch: front.gateway.recorder.fetch,
  })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const post = (body: Json, headers: Record<string, string> = {}) =>
  sendRequest(front.gateway, { path, key: front.customer.key, headers, body: { ...base, ...body } })
const answerWhole = () => {
  front.answer = () => Response.json({ ...greeting, usage })
}
const seen = () => front.requests.at(-1)

describe('a request for a message, to Anthropic', () => {
  test('arrives as it was sent but for the name of its model', async () => {
    answerWhole()
    const body = {
      system: [
        { type: 'text', text: 'x-header: 1' },
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
      ],
      messages: [
        ...messages,
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'sig' }] },
      ],
      thinking: { type: 'adaptive' },
      top_k: 5,
      stop_sequences: ['1', '2', '3', '4', '5'],
      tools: [{ type: 'bash_20250124', name: 'bash' }],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    }
    const { status, headers } = await post(body, {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'claude-code-20250219,effort-2025-11-24',
    })
    expect(status).toBe(200)
    expect(headers.get('x-tollgate-omitted')).toBeNull()
    expect(headers.get('x-tollgate-provider')).toBe('anthropic')
    expect(seen()?.path).toBe('/v1/messages')
    expect(seen()?.body).toEqual({ ...base, ...body, model: 'claude-sonnet-4-6' })
    expect(seen()?.headers.get('anthropic-beta')).toBe('claude-code-20250219,effort-2025-11-24')
    expect(seen()?.headers.get('anthropic-version')).toBe('2023-06-01')
    expect(seen()?.headers.get('x-api-key')).toBe(upstreamSecret)
    expect(JSON.stringify([...(seen()?.headers ?? [])])).not.toContain(front.customer.key)
  })

  test('the answer is returned unchanged, and is paid by its usage', async () => {
    answerWhole()
    const answer = await post({})
    expect(answer.body).toEqual({ ...greeting, model: claude, usage })
    const booked = await front.booked(answer)
    expect(booked).toMatchObject({ inputTokens: 10, outputTokens: 2, estimated: false })
    expect(booked.cost).toBe(priceOf(10, 2))
  })

  test('its events come back as they were, with the name of the model', async () => {
    front.answer = () => streamOf(events)
    const answer = await post({ stream: true })
    const [, ...rest] = events
    const started = {
      ...start,
      message: {
        ...head,
        model: claude,
        content: [],
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    }
    expect(answer.text).toBe(framesOf([started, ...rest]))
    expect((await front.booked(answer)).cost).toBe(priceOf(10, 2))
    const message = await client.messages.stream(base).finalMessage()
    expect(message).toMatchObject({ id: 'msg_theirs', model: claude, stop_reason: 'end_turn' })
  })

  test('drops unsigned thoughts of other models', async () => {
    answerWhole()
    const text = { type: 'text', text: 'Yes.' }
    const content = [{ type: 'thinking', thinking: 'Hm.', signature: '' }, text]
    await post({ messages: [...messages, { role: 'assistant', content }, ...messages] })
    expect(seen()?.body['messages']).toEqual([
      ...messages,
      { role: 'assistant', content: [text] },
      ...messages,
    ])
  })

  test('a repeat under the same key receives the same frames', async () => {
    front.answer = () => streamOf(events)
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const first = await post({ stream: true }, headers)
    const again = await post({ stream: true }, headers)
    expect(again.text).toBe(first.text)
    expect(front.requests).toHaveLength(1)
  })

  test('in the OpenAI format it is still translated', async () => {
    front.answer = () => streamOf(events)
    const chat = await front.chat(claude)
    expect(chat.body).toMatchObject({ object: 'chat.completion', model: claude })
  })
})

describe('failures', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }

  test('an error in place of the first event is a status', async () => {
    front.answer = () => streamOf([{ type: 'ping' }, overloaded])
    const { status, body } = await post({ stream: true })
    expect(status).toBe(503)
    expect(body).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } })
  })

  test.each([
    ['an error', [overloaded]],
    ['an end', []],
  ])('%s in mid-stream is an error event', async (_name, last: Json[]) => {
    front.answer = () => streamOf([...events.slice(0, 4), ...last])
    const { text } = await post({ stream: true })
    const read = readMessage(text)
    expect(read).toMatchObject({
      content: [{ text: 'Hi' }],
      error: { message: expect.any(String) },
    })
    expect(read.problems).toEqual([])
    expect(await failureOf(client.messages.stream(base).finalMessage())).toBeInstanceOf(APIError)
  })

  test.each([
    'messages.1: all messages must have non-empty content',
    'thinking.budget_tokens: Input should be greater than or equal to 1024',
  ])('a refusal keeps its reason: %s', async (message) => {
    front.answer = () =>
      Response.json(
        { type: 'error', error: { type: 'invalid_request_error', message } },
        { status: 400 },
      )
    const thinking = { type: 'enabled', budget_tokens: 10 }
    const { status, body } = await post({ thinking })
    expect(status).toBe(400)
    expect(body['error']).toEqual({ type: 'invalid_request_error', message })
  })

  test('an invalid answer is a 502', async () => {
    front.answer = () => Response.json({ type: 'message' })
    expect(await post({})).toMatchObject({ status: 502, body: { error: { type: 'api_error' } } })
  })

  test('a stream that outgrows its credit ends with max_tokens, block and all', async () => {
    const poor = await front.gateway.customer({}, { credit: 0.005 })
    const words = Array.from({ length: 400 }, (_, at) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: ` ${'word '.repeat(50)}${at}` },
    }))
    front.answer = () =>
      streamOf([...events.slice(0, 3), ...words, ...events.slice(5)] satisfies Json[])
    const body = { ...base, max_tokens: 100_000, stream: true }
    const { text } = await sendRequest(front.gateway, { path, key: poor.key, body })
    const read = readMessage(text)
    expect(read).toMatchObject({ problems: [], stopReason: 'max_tokens' })
    expect(Number(seen()?.body['max_tokens'])).toBeLessThan(100_000)
  })

  test('fields that only Anthropic reads are held for as well', async () => {
    const poor = await front.gateway.customer({}, { credit: 0.005 })
    answerWhole()
    const content = [{ type: 'newer_block', data: 'word '.repeat(50_000) }]
    const body = { ...base, messages: [{ role: 'user', content }] }
    expect((await sendRequest(front.gateway, { path, key: poor.key, body })).status).toBe(402)
    expect(front.requests).toEqual([])
  })

  test('a client that disconnects cancels it', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    front.answer = () => {
      const bytes = new TextEncoder().encode(framesOf(events.slice(0, 4)))
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(bytes),
        cancel: () => resolve('cancelled'),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const body = { ...base, stream: true }
    using raw = await sendRaw(front.gateway, { path, key: front.customer.key, body })
    await raw.until((received) => received.includes('text_delta'))
    raw.close()
    expect(await promise).toBe('cancelled')
  })
})

/** A request whose every part has these fields. */
const markedBy = (control: Json) => ({
  system: [{ type: 'text', text: 'a', ...control }],
  tools: [{ name: 'b', input_schema: { type: 'object' }, ...control }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'c', ...control }] }],
})

describe('costs beyond the price of a model', () => {
  const refused: [string, Json, string][] = [
    ['searches', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0.type'],
    ['tool servers', { mcp_servers: [{ type: 'url', url: 'https://a.example' }] }, 'mcp_servers'],
    ['a container', { container: 'c' }, 'container'],
    ['a region', { inference_geo: 'us' }, 'inference_geo'],
    ['a summary', { compaction: { type: 'summarize' } }, 'compaction'],
    ['a kept conversation', { thread: { type: 'create' } }, 'thread'],
    ['summaries', { context_management: { edits: [{ type: 'compact_1' }] } }, 'context_management'],
    [
      'documents that Anthropic fetches',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
            ],
          },
        ],
      },
      'messages.0.content.0.source.url',
    ],
  ]
  test.each(refused)('%s: rejected without a call of a provider', async (_name, body, field) => {
    const answer = await post(body)
    expect(answer.status).toBe(400)
    expect(answer.body['error']).toMatchObject({ message: expect.stringContaining(field) })
    expect(front.requests).toEqual([])
  })

  test('more expensive tiers are left out; an hour in the cache has a price and stays', async () => {
    answerWhole()
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    const asking = { service_tier: 'auto', inference_geo: 'global', speed: 'fast' }
    const { headers } = await post({ ...markedBy(hour), ...asking })
    expect(headers.get('x-tollgate-omitted')).toBe('speed')
    expect(seen()?.body).toEqual({
      ...base,
      ...markedBy(hour),
      inference_geo: 'global',
      model: 'claude-sonnet-4-6',
    })
  })
})

const count = (body: Json = {}) =>
  sendRequest(front.gateway, {
    path: `${path}/count_tokens`,
    key: front.customer.key,
    headers: { 'anthropic-beta': 'token-counting-2024-11-01' },
    body: { model: claude, messages, ...body },
  })

describe('count_tokens', () => {
  test('is requested from Anthropic', async () => {
    front.answer = () => Response.json({ input_tokens: 4321 })
    expect((await count()).body).toEqual({ input_tokens: 4321 })
    expect(seen()?.path).toBe('/v1/messages/count_tokens')
    expect(seen()?.body).toEqual({ model: 'claude-sonnet-4-6', messages })
    expect(seen()?.headers.get('anthropic-beta')).toBe('token-counting-2024-11-01')
  })

  test('is estimated where it does not count, and rejected where it refuses', async () => {
    front.answer = () => new Response('no such page', { status: 404 })
    const { status, body } = await count()
    expect(status).toBe(200)
    expect(body['input_tokens']).toBeGreaterThan(2)
    const error = { type: 'invalid_request_error', message: 'messages: is odd' }
    front.answer = () => Response.json({ type: 'error', error }, { status: 400 })
    expect(await count()).toMatchObject({ status: 400, body: { type: 'error' } })
  })
})

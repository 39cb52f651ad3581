import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { eventsOf, openFront, type Front } from './front'
import {
  allowLoopback,
  upstreamEnvironment,
  startUpstream,
  type Upstream,
} from '../../harness/byok'
import { upstreamSecret } from '../../harness/server'

/** X19: images that callers name by address, for a provider that takes bytes only. */

const model = 'google/gemini-2.5-flash'
const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')

let front: Front
let images: Upstream
const address = (path = '/cat.png') => `${images.url}${path}`

beforeAll(async () => {
  images = startUpstream()
  front = await openFront((url) => ({
    ...upstreamEnvironment(images),
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: url,
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: url,
  }))
  await allowLoopback(front.gateway)
})
beforeEach(() => {
  images.answer = () => new Response(png, { headers: { 'content-type': 'image/gif' } })
  front.answer = () =>
    eventsOf({
      candidates: [{ content: { parts: [{ text: 'A cat.' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 300, candidatesTokenCount: 3, totalTokenCount: 303 },
    })
})
afterEach(() => {
  front.reset()
  images.requests.length = 0
})
afterAll(async () => {
  await front[Symbol.asyncDispose]()
  await images[Symbol.asyncDispose]()
})

const asking = (...urls: string[]) => ({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        ...urls.map((url) => ({ type: 'image_url', image_url: { url } })),
      ],
    },
  ],
})

const shown = { text: 'What is it?' }
const inline = { inlineData: { mimeType: 'image/png', data: png.toString('base64') } }

test('the provider receives the bytes, with their type', async () => {
  const answer = await front.chat(model, asking(address(), address()))
  expect(answer.status).toBe(200)
  expect(images.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /cat.png'])
  expect(images.requests[0]?.headers.has('authorization')).toBe(false)
  expect(front.requests[0]?.body['contents']).toEqual([
    { role: 'user', parts: [shown, inline, inline] },
  ])
  // What is paid for is what the provider counts.
  expect((await front.booked(answer)).inputTokens).toBe(300)
})

test('for a stream, and for callers of the Messages format, too', async () => {
  const stream = await front.stream(model, asking(address()))
  expect([stream.status, stream.content, stream.isDone]).toEqual([200, 'A cat.', true])
  const source = { type: 'url', url: address() }
  const content = [
    { type: 'text', text: 'What is it?' },
    { type: 'image', source },
  ]
  const messages = [{ role: 'user', content }]
  const response = await front.post('/v1/messages', { model, max_tokens: 50, messages })
  expect(response.status).toBe(200)
  expect(front.requests.map(({ body }) => body['contents'])).toEqual([
    [{ role: 'user', parts: [shown, inline] }],
    [{ role: 'user', parts: [shown, inline] }],
  ])
  expect(images.requests).toHaveLength(2)
})

test('a provider that fetches by itself receives the address, and Tollgate fetches nothing', async () => {
  front.answer = () => new Response(null, { status: 500 })
  await front.chat('openai/gpt-4o', asking(address()))
  expect(JSON.stringify(front.requests[0]?.body)).toContain(address())
  expect(images.requests).toEqual([])
})

test.each([
  ['a redirect', () => Response.redirect('https://127.0.0.2/b.png'), 'redirects are not followed'],
  ['a page', () => new Response('<html></html>'), 'not an image in a supported format'],
  ['no answer but a status', () => new Response(null, { status: 403 }), 'status 403'],
])('%s is an invalid field, without a call of the provider', async (_what, answered, why) => {
  images.answer = answered
  for (const fields of [{}, { stream: true }]) {
    const { status, error } = await front.chat(model, { ...asking(address()), ...fields })
    expect([status, error.code, error.param, error.details?.['issue']]).toEqual([
      400,
      'invalid_request',
      'messages.0.content.1.image_url.url',
      'bad_format',
    ])
    expect(error.message).toContain(why)
  }
  expect([images.requests.length, front.requests.length]).toEqual([2, 0])
})

test('X19: an address inside is not gone to', async () => {
  const inside = [
    front.gateway.url.replace('http:', 'https:'),
    address().replace('127.0.0.2', '127.0.0.3'),
    address().replace('127.0.0.2', '169.254.169.254'),
    address().replace('127.0.0.2', 'localhost'),
    address().replace(/:\d+/, ':22'),
    address().replace('127.0.0.2', 'user@127.0.0.2'),
  ]
  for (const url of inside) {
    const { status, error } = await front.chat(model, asking(url))
    expect([url, status, error.param, error.details?.['issue']]).toEqual([
      url,
      400,
      'messages.0.content.1.image_url.url',
      'not_allowed',
    ])
  }
  expect([images.requests.length, front.requests.length]).toEqual([0, 0])
})

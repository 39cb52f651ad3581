import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import { messages, sendRequest, type Json } from '../../harness/http'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  await fixture.rig.model('gpt-9-mini')
  await fixture.rig.model('vectors-9', { category: 'embedding', pricing: { input: 1, output: 0 } })
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** Sends a request of the customer's; a body makes it a POST. */
const send = (path: string, body?: Json, headers: Record<string, string> = {}) =>
  sendRequest(fixture.rig.gateway, {
    path,
    key: fixture.customer.key,
    headers,
    ...(body ? { body } : { method: 'GET' }),
  })

const anthropic = { 'anthropic-version': '2023-06-01' }

test.each<[string, string, Json | undefined, Record<string, string>?]>([
  ['chat', '/v1/chat/completions', { messages }],
  ['a streamed chat', '/v1/chat/completions', { messages, stream: true }],
  ['legacy completions', '/v1/completions', { prompt: 'Hello' }],
  ['Responses', '/v1/responses', { input: 'Hello' }],
  ['a streamed response', '/v1/responses', { input: 'Hello', stream: true }],
  ['Messages', '/v1/messages', { messages, max_tokens: 5 }, anthropic],
  ['the count of tokens', '/v1/messages/count_tokens', { messages }, anthropic],
  ['one model', '/v1/models/', undefined],
  ['one model in Anthropic’s format', '/v1/models/', undefined, anthropic],
])('finding N16: %s answers a bare and a misspelt name with the intended one', async (...row) => {
  const [, path, body, headers] = row
  for (const [model, status] of [
    ['gpt-9-mini', 400],
    ['fake/gtp-9-mini', 404],
  ] as const) {
    const refused = body
      ? await send(path, { model, ...body }, headers)
      : await send(`${path}${model}`, undefined, headers)
    expect(refused.status).toBe(status)
    expect(refused.error.message).toEndWith('Did you mean "fake/gpt-9-mini"?')
  }
})

test('finding N16: embeddings name an embedding model, and chat does not', async () => {
  const refused = await send('/v1/embeddings', { model: 'vectors-9', input: 'Hello' })
  expect([refused.status, refused.error.code]).toEqual([400, 'invalid_model'])
  expect(refused.error.message).toEndWith('Did you mean "fake/vectors-9"?')
  const chat = await fixture.chat('vectors-9')
  expect(chat.error.message).not.toContain('Did you mean')
})

test('finding N16: unknown names in prices, ratings and mappings are answered alike', async () => {
  const estimate = await fixture.api('POST /user/quota/estimate-cost', {
    model: 'gpt-9-mini',
    input_tokens: 1,
    output_tokens: 1,
  })
  expect([estimate.status, estimate.error.code]).toEqual([404, 'model_not_found'])
  const model = await fixture.api('GET /models/fake/gpt-9-mni')
  const rating = await fixture.api('GET /models/gpt-9-mini/ratings')
  for (const { error } of [estimate, model, rating]) {
    expect(error.message).toEndWith('Did you mean "fake/gpt-9-mini"?')
  }
})

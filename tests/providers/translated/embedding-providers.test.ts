import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { isJson, type Json } from '../conformance/fixture'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import {
  base64,
  data,
  embeddingCases,
  image,
  listFor,
  listOf,
  perToken,
  text,
  vector,
} from './embedding-cases'
import { openFront, type Front } from './front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
    VERTEX_API_KEY: upstreamSecret,
    VERTEX_BASE_URL: `${url}/vertex`,
    COHERE_API_KEY: upstreamSecret,
    COHERE_BASE_URL: url,
    VOYAGE_API_KEY: upstreamSecret,
    VOYAGE_BASE_URL: `${url}/v1`,
    JINA_API_KEY: upstreamSecret,
    JINA_BASE_URL: `${url}/v1`,
    MISTRAL_API_KEY: upstreamSecret,
    MISTRAL_BASE_URL: `${url}/v1`,
    AWS_BEARER_TOKEN_BEDROCK: upstreamSecret,
    BEDROCK_BASE_URL: url,
  }))
  for (const { model, pricing = perToken } of embeddingCases) await price(model, pricing)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** Prices a model, and makes it where the catalogue has none of this name. */
async function price(model: string, pricing: Json): Promise<void> {
  const known = await front.gateway.admin('PUT', `/models/${model}`, { pricing }).catch(() => null)
  if (known) return
  const [, ...name] = model.split('/')
  const fields = { upstream_model: name.join('/'), category: 'embedding', pricing }
  await front.price(model, { name: model, ...fields })
}

const embed = (model: string, input: unknown, fields: Json = {}) =>
  front.post('/v1/embeddings', { model, input, ...fields })
const vectorsIn = ({ body }: { body: Json }) =>
  listOf(body['data']).map((item) => (isJson(item) ? item['embedding'] : undefined))

test.each(embeddingCases)(
  '$model: its format, its words, its count and its price',
  async ({ model, input, fields = {}, answer, path, sent, tokens, cost }) => {
    front.answer = answer
    const embedded = await embed(model, input, fields)
    expect(embedded.body).toMatchObject({ object: 'list', model })
    const expected = fields['encoding_format'] === 'base64' ? base64 : vector
    expect(vectorsIn(embedded)).toEqual(listOf(input).map(() => expected))
    expect(front.requests.map((request) => [request.path, request.body])).toEqual([[path, sent]])
    expect(embedded.body['usage']).toEqual({ prompt_tokens: tokens, total_tokens: tokens })
    expect(reportedCost(embedded)).toBe(cost)
    expect(await front.booked(embedded)).toMatchObject({ cost, inputTokens: tokens })
  },
)

test.each([
  ['mistral/mistral-embed', [{ content: [image] }], 'no images'],
  ['voyage/voyage-4', ['text 1', { image: data }], 'no images'],
  ['vertex/gemini-embedding-001', [{ image: data }], 'no images'],
  ['bedrock/amazon.titan-embed-text-v1', [{ image: data }], 'no images'],
  ['jina/jina-embeddings-v4', ['text 1', { content: [text, image] }], 'one text or one image'],
  ['bedrock/amazon.titan-embed-image-v1', [{ content: [image, image] }], 'at most one text'],
])(
  '%s cannot embed unsupported inputs: 400, and no provider is called',
  async (model, input, words) => {
    const { status, error } = await embed(model, input)
    expect([status, error['code']]).toEqual([400, 'invalid_request'])
    expect(error['param']).toBe(`input.${input.length - 1}`)
    expect(String(error['message'])).toContain(words)
    expect(front.requests).toEqual([])
  },
)

test('a task type that a model lacks is a 400 with the supported ones', async () => {
  const { status, error } = await embed('voyage/voyage-4', 'text 1', { task: 'clustering' })
  expect([status, error['param']]).toEqual([400, 'task'])
  expect(String(error['message'])).toContain('search_query, search_document')
  expect(front.requests).toEqual([])
})

test('the address of an image is fetched for a provider that does not, by the guarded way', async () => {
  const input = [{ image: 'https://10.1.2.3/a.png' }]
  const { status, error } = await embed('google/gemini-embedding-2', input)
  expect([status, error['param']]).toEqual([400, 'input.0'])
  expect(front.requests).toEqual([])
  front.answer = listFor({ total_tokens: 5 })
  await embed('voyage/voyage-multimodal-3.5', input)
  expect(front.requests[0]?.body['inputs']).toEqual([
    { content: [{ type: 'image_url', image_url: 'https://10.1.2.3/a.png' }] },
  ])
})

test.each([
  ['mistral/mistral-embed', 256],
  ['jina/jina-embeddings-v4', 512],
])('%s is sent at most %i texts at once', async (model, limit) => {
  front.answer = listFor({ prompt_tokens: 3, total_tokens: 3 })
  const texts = Array.from({ length: limit + 1 }, (_, index) => `text ${index}`)
  const embedded = await embed(model, texts)
  expect(vectorsIn(embedded)).toHaveLength(limit + 1)
  const sizes = front.requests.map(({ body }) => listOf(body['input']).length)
  expect(sizes.toSorted((a, b) => b - a)).toEqual([limit, 1])
  expect(embedded.body['usage']).toEqual({ prompt_tokens: 6, total_tokens: 6 })
})

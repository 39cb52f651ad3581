import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { isJson, type Json } from '../conformance/fixture'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front, type ProviderRequest } from './front'

let front: Front

const google = 'google/gemini-embedding-001'
const cohere = 'cohere/embed-v4.0'
const titan = 'bedrock/amazon.titan-embed-text-v2:0'

beforeAll(async () => {
  front = await openFront((url) => ({
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
    COHERE_API_KEY: upstreamSecret,
    COHERE_BASE_URL: url,
    AWS_BEARER_TOKEN_BEDROCK: upstreamSecret,
    BEDROCK_BASE_URL: url,
  }))
  for (const model of [google, cohere, titan]) await front.price(model)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
/** A vector by which its text is known again: `text 7` becomes 7. */
const vectorOf = (text: unknown) => [Number(String(text).split(' ').at(-1)), 0.5]
const textsOf = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`)

const byGoogle = ({ body }: ProviderRequest) => {
  const texts = listOf(body['requests']).map((request) => JSON.stringify(request))
  const numbers = texts.map((text) => /text (\d+)/.exec(text)?.[1])
  return Response.json({ embeddings: numbers.map((number) => ({ values: vectorOf(number) })) })
}
const byCohere = ({ body }: ProviderRequest) => {
  const texts = listOf(body['texts'])
  const meta = { billed_units: { input_tokens: 10 * texts.length } }
  return Response.json({ id: 'x', embeddings: { float: texts.map(vectorOf) }, meta })
}
const byTitan = ({ body }: ProviderRequest) =>
  Response.json({ embedding: vectorOf(body['inputText']), inputTextTokenCount: 3 })

const embed = (model: string, input: unknown, fields: Json = {}) =>
  front.post('/v1/embeddings', { model, input, ...fields })
const vectorsIn = ({ body }: { body: Json }) =>
  listOf(body['data']).map((item) => (isJson(item) ? item['embedding'] : undefined))

describe('each in its format, as many at once as it takes, in order', () => {
  const counting = [
    { model: cohere, answer: byCohere, path: '/v2/embed', sizes: [96, 96, 8], tokens: 2000 },
    {
      model: titan,
      answer: byTitan,
      path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
      sizes: [1, 1, 1, 1, 1],
      tokens: 15,
    },
  ]
  test.each(counting)('$model', async ({ model, answer, path, sizes, tokens }) => {
    const count = sizes.reduce((sum, size) => sum + size)
    front.answer = answer
    const embedded = await embed(model, textsOf(count))
    expect(vectorsIn(embedded)).toEqual(textsOf(count).map(vectorOf))
    expect(front.requests.map((request) => request.path)).toEqual(sizes.map(() => path))
    const sent = front.requests.map(
      ({ body }) => listOf(body['texts'] ?? [body['inputText']]).length,
    )
    expect(sent.toSorted((a, b) => b - a)).toEqual(sizes)
    expect(embedded.body).toMatchObject({
      object: 'list',
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    })
    const cost = BigInt(tokens) * 1000n
    expect(reportedCost(embedded)).toBe(cost)
    expect(await front.booked(embedded)).toMatchObject({ cost, estimated: false })
    expect(front.requests[0]?.headers.get('authorization')).toBe(`Bearer ${upstreamSecret}`)
  })

  test('google, without usage: the estimate is returned and charged', async () => {
    front.answer = byGoogle
    const embedded = await embed(google, textsOf(150), { dimensions: 2 })
    expect(vectorsIn(embedded)).toEqual(textsOf(150).map(vectorOf))
    expect(front.requests.map(({ body }) => listOf(body['requests']).length)).toEqual([100, 50])
    const [request] = front.requests
    expect(request?.path).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents')
    expect(request?.headers.get('x-goog-api-key')).toBe(upstreamSecret)
    expect(listOf(request?.body['requests'])[0]).toMatchObject({ outputDimensionality: 2 })
    const event = await front.booked(embedded)
    expect(event).toMatchObject({ estimated: true, cost: BigInt(event.inputTokens) * 1000n })
    expect(event.inputTokens).toBeWithin(300, 900)
    expect(embedded.body['usage']).toMatchObject({ prompt_tokens: event.inputTokens })
  })
})

test('base64 is made of their floats, and the purpose of a text is in their words', async () => {
  front.answer = byCohere
  const fields = { encoding_format: 'base64', input_type: 'search_query' }
  const [vector] = vectorsIn(await embed(cohere, 'text 7', fields))
  const bytes = Buffer.from(String(vector), 'base64')
  expect([bytes.length, bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([8, 7, 0.5])
  expect(front.requests[0]?.body).toMatchObject({ input_type: 'search_query', texts: ['text 7'] })
})

test('token ids become the text that they stand for', async () => {
  front.answer = byCohere
  await embed(cohere, [[9906], [1917]])
  expect(front.requests[0]?.body['texts']).toEqual(['Hello', ' world'])
})

test('fewer vectors than texts are rejected', async () => {
  front.answer = () => Response.json({ id: 'x', embeddings: { float: [[1]] } })
  const answer = await embed(cohere, ['text 1', 'text 2'])
  expect([answer.status, answer.error['code']]).toEqual([502, 'provider_error'])
})

test('an error is returned in the format of the request', async () => {
  const message = `API key not valid: ${upstreamSecret}`
  front.answer = () =>
    Response.json({ error: { code: 400, status: 'INVALID_ARGUMENT', message } }, { status: 400 })
  const answer = await embed(google, 'text 1')
  // A bad key of ours is not the caller's fault.
  expect([answer.status, answer.error['code']]).toEqual([502, 'provider_error'])
})

const busy = () => Response.json({ message: 'Too many requests.' }, { status: 429 })

test('a batch that fails after another was answered is tried nowhere else', async () => {
  await front.gateway.admin('POST', '/connections', {
    name: 'second',
    provider: 'bedrock',
    api_key: upstreamSecret,
    endpoint_url: `${front.url}/second`,
    priority: 900,
  })
  front.answer = (request) => (request.text.includes('text 3') ? busy() : byTitan(request))
  const answer = await embed(titan, textsOf(4))
  expect([answer.status, front.requests.length]).toEqual([503, 4])
  front.requests.length = 0
  // Where nothing was answered, nothing was billed.
  front.answer = (request) => (request.path.startsWith('/second') ? byTitan(request) : busy())
  expect(vectorsIn(await embed(titan, textsOf(2)))).toEqual(textsOf(2).map(vectorOf))
})

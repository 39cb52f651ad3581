import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from './front'

const query = 'capital of France'
const documents = ['Berlin lies on the Spree', 'the capital of France is Paris', 'of all capitals']
const onBedrock = 'bedrock/cohere.rerank-v3-5:0'
const onVertex = 'vertex/semantic-ranker-default-004'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
    AWS_SECRET_ACCESS_KEY: upstreamSecret,
    AWS_REGION: 'us-west-2',
    BEDROCK_BASE_URL: url,
    VERTEX_API_KEY: upstreamSecret,
    VERTEX_BASE_URL: `${url}/v1/projects/p-1/locations/global`,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const rank = (model: string, fields: Json = {}) =>
  front.post('/v1/rerank', { model, query, documents, top_n: 2, ...fields })

const ofBedrock = (...results: [index: number, relevanceScore: number][]) =>
  Response.json({
    results: results.map(([index, relevanceScore]) => ({ index, relevanceScore })),
  })
const ofVertex = (...results: [index: number, score: number][]) =>
  Response.json({ records: results.map(([index, score]) => ({ id: String(index), score })) })

const cases = [
  {
    model: onBedrock,
    answer: ofBedrock,
    path: '/rerank',
    sent: {
      queries: [{ type: 'TEXT', textQuery: { text: query } }],
      sources: documents.map((text) => ({
        type: 'INLINE',
        inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
      })),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          modelConfiguration: {
            modelArn: 'arn:aws:bedrock:us-west-2::foundation-model/cohere.rerank-v3-5:0',
          },
          numberOfResults: 2,
        },
      },
    },
    unit: 2_000_000n,
  },
  {
    model: onVertex,
    answer: ofVertex,
    path: '/v1/projects/p-1/locations/global/rankingConfigs/default_ranking_config:rank',
    sent: {
      model: 'semantic-ranker-default-004',
      query,
      records: documents.map((content, index) => ({ id: String(index), content })),
      topN: 2,
      ignoreRecordDetailsInResponse: true,
    },
    unit: 1_000_000n,
  },
] as const

describe.each(cases)('$model', ({ model, answer, path, sent, unit }) => {
  test('ranks in its own form, and is answered in the common one, at the price of a query', async () => {
    front.answer = () => answer([2, 0.25], [1, 0.75])
    const ranking = await rank(model, { return_documents: true })
    expect(ranking.status).toBe(200)
    expect(front.requests[0]).toMatchObject({ path, body: sent })
    expect(ranking.body).toMatchObject({
      model,
      results: [
        { index: 1, relevance_score: 0.75, document: { text: documents[1] } },
        { index: 2, relevance_score: 0.25, document: { text: documents[2] } },
      ],
      meta: { billed_units: { search_units: 1 } },
    })
    expect(reportedCost(ranking)).toBe(unit)
    expect((await front.booked(ranking)).cost).toBe(unit)
  })

  test('101 documents are two queries', async () => {
    const many = Array.from({ length: 101 }, (_, index) => `document ${index}`)
    front.answer = () => answer([0, 0.5])
    const ranking = await rank(model, { documents: many, top_n: 1 })
    expect((await front.booked(ranking)).cost).toBe(2n * unit)
  })

  test.each([
    ['a refusal', { status: 400 }, 400],
    ['a rejected key', { status: 403 }, 502],
    ['busy', { status: 429 }, 503],
  ])('%s costs nothing', async (_what, init, status) => {
    front.answer = () =>
      Response.json({ message: 'No.', error: { code: init.status, message: 'No.' } }, init)
    const ranking = await rank(model)
    expect(ranking.status).toBe(status)
    expect((await front.booked(ranking)).cost).toBe(0n)
  })

  test('a ranking of fewer documents than were requested is rejected', async () => {
    front.answer = () => answer([0, 0.5])
    const ranking = await rank(model)
    expect([ranking.status, ranking.error.code]).toEqual([502, 'provider_error'])
  })

  test('max_tokens_per_doc is named as left out', async () => {
    front.answer = () => answer([2, 0.25], [1, 0.75])
    const ranking = await rank(model, { max_tokens_per_doc: 100 })
    expect(ranking.headers.get('x-tollgate-omitted')).toBe('max_tokens_per_doc')
  })
})

test('Bedrock’s request is signed for its region, Vertex AI’s has the credential of the connection', async () => {
  front.answer = () => ofBedrock([0, 1], [1, 0.5])
  await rank(onBedrock)
  expect(front.requests[0]?.headers.get('authorization')).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/us-west-2\/bedrock\/aws4_request/,
  )
  front.answer = () => ofVertex([0, 1], [1, 0.5])
  await rank(onVertex)
  expect(front.requests[1]?.headers.get('x-goog-api-key')).toBe(upstreamSecret)
})

test('a document of several parts is several at Bedrock, and one at Vertex AI', async () => {
  // 150 documents of some 600 tokens.
  const long = Array.from({ length: 150 }, () => 'a word here '.repeat(200))
  front.answer = () => ofBedrock([0, 1])
  const divided = await front.booked(await rank(onBedrock, { documents: long, top_n: 1 }))
  expect(divided.cost).toBe(3n * 2_000_000n)
  front.answer = () => ofVertex([0, 1])
  const whole = await front.booked(await rank(onVertex, { documents: long, top_n: 1 }))
  expect(whole.cost).toBe(2n * 1_000_000n)
})

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sendRequest } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { errorOf, jsonOf, createFixture, type Fixture } from './fixture'
import { anthropicEnvironment, testSeparateKinds } from './separate-kinds'

const path = '/v1/rerank'
const reranker = { category: 'rerank', pricing: { input: 1, output: 0 } }
const query = 'capital of France'
const documents = ['Berlin lies on the Spree', 'the capital of France is Paris', 'of all capitals']
const asked = { query, documents }

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({
    environment: { ...anthropicEnvironment, COHERE_API_KEY: upstreamSecret },
  })
  const { gateway, upstream } = fixture.rig
  await fixture.model('jina', { ...reranker, upstream_model: 'ok' })
  await fixture.addProvider('voyage-like', { rerankFormat: 'voyage' })
  await fixture.addModel('voyage-like/rank-voyage', reranker)
  await fixture.addProvider('tei-like', { rerankFormat: 'tei' })
  await fixture.addModel('tei-like/rank-tei', reranker)
  await gateway.admin('POST', '/connections', {
    name: 'cohere',
    provider: 'cohere',
    api_key: upstreamSecret,
    endpoint_url: upstream.url.replace(/\/v1$/, ''),
  })
  const pricing = { input: 0, output: 0, search: 0.002 }
  await fixture.addModel('cohere/rank-cohere', { ...reranker, pricing })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const rank = async (body: Record<string, unknown>, at = path) => {
  const response = await fixture.post(at, body)
  return { response, body: jsonOf(await response.json()) }
}

describe.each([
  ['fake/jina', { model: 'ok', top_n: 2, return_documents: false, ...asked }],
  ['voyage-like/rank-voyage', { model: 'rank-voyage', top_k: 2, ...asked }],
  ['cohere/rank-cohere', { model: 'rank-cohere', top_n: 2, ...asked }],
])('%s', (model, sent) => {
  test.each(['/v1/rerank', '/v2/rerank'])('answers %s in one form, best first', async (at) => {
    const { response, body } = await rank({ model, top_n: 2, ...asked }, at)
    expect(response.status).toBe(200)
    expect(body).toMatchObject({ model, id: expect.any(String) })
    expect(body['results']).toEqual([
      { index: 1, relevance_score: 1 },
      { index: 2, relevance_score: 1 / 3 },
    ])
    expect(fixture.sent()).toEqual(sent)
  })

  test('repeats documents where that is wanted, objects whole', async () => {
    const objects = [{ text: documents[0] }, { text: documents[1], id: 7 }, documents[2]]
    const request = { model, query, documents: objects, return_documents: true }
    const { body } = await rank(request)
    expect(body['results']).toMatchObject([
      { index: 1, document: { text: documents[1], id: 7 } },
      { index: 2, document: { text: documents[2] } },
      { index: 0, document: { text: documents[0] } },
    ])
    expect(fixture.sent()['documents']).toEqual(documents)
  })
})

test('a server that answers with a list alone is sorted, and cut here', async () => {
  const { body } = await rank({ model: 'tei-like/rank-tei', top_n: 1, ...asked })
  expect(body['results']).toEqual([{ index: 1, relevance_score: 1 }])
  expect(fixture.sent()).toEqual({ model: 'rank-tei', query, texts: documents })
})

test('max_tokens_per_doc goes to Cohere alone, and is named where it is left out', async () => {
  const request = { max_tokens_per_doc: 100, ...asked }
  const cohere = await rank({ model: 'cohere/rank-cohere', ...request })
  expect(fixture.sent()).toMatchObject({ max_tokens_per_doc: 100 })
  expect(cohere.response.headers.get('x-tollgate-omitted')).toBeNull()
  const { response } = await rank({ model: 'fake/jina', ...request })
  expect(response.headers.get('x-tollgate-omitted')).toBe('max_tokens_per_doc')
  expect(fixture.sent()).not.toHaveProperty('max_tokens_per_doc')
})

test('the sandbox ranks by shared words, without a key of any provider', async () => {
  const { body } = await rank({ model: 'sandbox/rerank', ...asked, top_n: 1 })
  expect(body).toMatchObject({ model: 'sandbox/rerank', results: [{ index: 1 }] })
})

test.each([
  ['no query', { query: undefined }, 'query', 'required'],
  ['an empty query', { query: '' }, 'query', 'too_short'],
  ['no documents', { documents: undefined }, 'documents', 'required'],
  ['an empty list', { documents: [] }, 'documents', 'empty'],
  ['an empty document', { documents: ['a', ''] }, 'documents.1', 'too_short'],
  ['too many documents', { documents: Array(2049).fill('a') }, 'documents', 'too_many'],
  ['no result', { top_n: 0 }, 'top_n', 'out_of_range'],
  ['half a result', { top_n: 1.5 }, 'top_n', 'wrong_type'],
])('%s is rejected with the field and the reason', async (...[, fields, param, issue]) => {
  const before = fixture.rig.upstream.requests().length
  const response = await fixture.post(path, { model: 'fake/jina', ...asked, ...fields })
  expect(response.status).toBe(400)
  expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
  expect(fixture.rig.upstream.requests()).toHaveLength(before)
})

test.each(['rank-fewer', 'rank-others'])('a wrong ranking is rejected: %s', async (name) => {
  const model = await fixture.model(name, reranker)
  const response = await fixture.post(path, { model, ...asked })
  expect(response.status).toBe(502)
  expect(await errorOf(response)).toMatchObject({ code: 'provider_error' })
})

test('a failing provider is followed by the next member of a collection', async () => {
  const failing = await fixture.model('status-503', reranker)
  const { rig } = fixture
  const members = [failing, 'fake/jina']
  const owner = await rig.gateway.customer({ permissions: ['read', 'write', 'admin'] })
  const made = await sendRequest(rig.gateway, {
    path: '/api/user/model-collections',
    key: owner.key,
    body: { name: 'rankers', members },
  })
  expect(made.status).toBe(201)
  const answer = await sendRequest(rig.gateway, {
    path,
    key: owner.key,
    body: { model: String(made.body['model_id']), ...asked, top_n: 1 },
  })
  expect(answer.body).toMatchObject({ model: 'fake/jina', results: [{ index: 1 }] })
})

testSeparateKinds(() => fixture, { path, fields: reranker, model: 'fake/jina', body: asked })

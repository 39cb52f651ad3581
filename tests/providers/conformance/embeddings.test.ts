import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { vectorOf } from '../../harness/upstreams/embeddings'
import { errorOf, jsonOf, createFixture, type Fixture } from './fixture'

const path = '/v1/embeddings'
const embedding = { category: 'embedding', pricing: { input: 1, output: 0 } }

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ provider: { options: { embeddings: { batchLimit: 2 } } } })
  await fixture.addProvider('texts', {
    embeddings: { tokenArrays: false, base64: false, dimensionsField: 'output_dimension' },
  })
  await fixture.addModel('texts/ok', embedding)
  await fixture.addModel('texts/embed-floats-only', embedding)
  await fixture.model('ok', { ...embedding, dimensions: 16 })
  await fixture.model('embed-floats-only', embedding)
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

/** The numbers as a client has them that reads 32-bit floats. */
const floats = (vector: readonly number[]) => [...Float32Array.from(vector)]
const base64 = (vector: readonly number[]) =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64')

describe.each(['fake/ok', 'fake/embed-floats-only', 'texts/ok'])('R2: %s', (model) => {
  test('gives the client, which requests base64, the exact numbers', async () => {
    const answer = await fixture.client.embeddings.create({ model, input: 'one text' })
    expect(answer.data).toHaveLength(1)
    expect([...(answer.data[0]?.embedding ?? [])]).toEqual(floats(vectorOf('one text', 8)))
    expect(answer).toMatchObject({ object: 'list', model })
  })

  test('gives base64 and floats bit for bit as the provider has them', async () => {
    const vector = vectorOf('one text', 8)
    const params = { model, input: 'one text' }
    for (const [format, wanted] of [
      ['base64', base64(vector)],
      ['float', vector],
      [null, vector],
    ] as const) {
      const response = await fixture.post(path, { ...params, encoding_format: format })
      const body = jsonOf(await response.json())
      expect(body['data']).toEqual([{ object: 'embedding', index: 0, embedding: wanted }])
    }
  })
})

test('the provider is queried for base64 only if it supports it', async () => {
  await fixture.client.embeddings.create({ model: 'fake/ok', input: 'a' })
  expect(fixture.sent()).toEqual({ model: 'ok', input: ['a'], encoding_format: 'base64' })
  await fixture.client.embeddings.create({ model: 'texts/ok', input: 'a', user: 'somebody' })
  const user = expect.stringMatching(/^[\da-f]{48}$/)
  expect(fixture.sent()).toEqual({ model: 'ok', input: ['a'], user })
})

test('a long list goes out in batches and comes back in order, its usage summed', async () => {
  const input = ['one', 'two words', 'three', 'four', 'five words in this one']
  const before = fixture.rig.upstream.requests().length
  const answer = await fixture.client.embeddings.create({ model: 'fake/ok', input })
  const batches = fixture.rig.upstream.requests().slice(before)
  expect(batches.map(({ body }) => jsonOf(body)['input'])).toEqual([
    ['one', 'two words'],
    ['three', 'four'],
    ['five words in this one'],
  ])
  expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4])
  expect(answer.data.map((item) => [...item.embedding])).toEqual(
    input.map((text) => floats(vectorOf(text, 8))),
  )
  expect(answer.usage).toEqual({ prompt_tokens: 10, total_tokens: 10 })
})

test('R3: sends token ids to providers that accept them, one array and many', async () => {
  await fixture.client.embeddings.create({ model: 'fake/ok', input: [9906, 1917] })
  expect(fixture.sent()['input']).toEqual([[9906, 1917]])
  const two = await fixture.client.embeddings.create({
    model: 'fake/ok',
    input: [[9906], [1917, 0]],
  })
  expect(fixture.sent()['input']).toEqual([[9906], [1917, 0]])
  expect(two.data).toHaveLength(2)
})

test('R3: for a provider of texts, token ids become their text again', async () => {
  await fixture.client.embeddings.create({ model: 'texts/ok', input: [9906, 1917] })
  expect(fixture.sent()['input']).toEqual(['Hello world'])
  await fixture.client.embeddings.create({ model: 'texts/ok', input: [[9906], [1917]] })
  expect(fixture.sent()['input']).toEqual(['Hello', ' world'])
})

test('an invalid token id is rejected with its place', async () => {
  const response = await fixture.post(path, { model: 'texts/ok', input: [[9906], [99_999_999]] })
  expect(response.status).toBe(400)
  expect(await errorOf(response)).toMatchObject({ code: 'invalid_request', param: 'input.1' })
})

test('dimensions reach the provider under its own name, and more than there are do not', async () => {
  const answer = await fixture.client.embeddings.create({
    model: 'fake/ok',
    input: 'a',
    dimensions: 16,
  })
  expect(answer.data[0]?.embedding).toHaveLength(16)
  await fixture.client.embeddings.create({ model: 'texts/ok', input: 'a', dimensions: 4 })
  expect(fixture.sent()).toMatchObject({ output_dimension: 4 })
  expect(fixture.sent()).not.toHaveProperty('dimensions')
  const refused = await fixture.post(path, { model: 'fake/ok', input: 'a', dimensions: 17 })
  expect(await errorOf(refused)).toMatchObject({ code: 'invalid_request', param: 'dimensions' })
})

test.each([
  ['nothing', undefined, { param: 'input', issue: 'required' }],
  ['an empty text', '', { param: 'input', issue: 'too_short' }],
  ['an empty list', [], { param: 'input', issue: 'empty' }],
  ['an empty text in a list', ['a', ''], { param: 'input.1', issue: 'too_short' }],
  ['texts and tokens mixed', ['a', 1], { param: 'input.1', issue: 'wrong_type' }],
  ['an object', {}, { param: 'input', issue: 'wrong_type' }],
])('%s as input is rejected', async (_what, input, { param, issue }) => {
  const response = await fixture.post(path, { model: 'fake/ok', input })
  expect(response.status).toBe(400)
  expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
})

test('a chat model does not embed, and an embedding model does not chat', async () => {
  const chat = await fixture.model('say', { upstream_model: 'ok' })
  expect(await errorOf(await fixture.post(path, { model: chat, input: 'a' }))).toMatchObject({
    param: 'model',
    details: { issue: 'unsupported_by_model' },
  })
})

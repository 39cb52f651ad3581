import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sendRequest } from '../../harness/http'
import { errorOf, jsonOf, createFixture, type Fixture } from './fixture'
import { anthropicEnvironment, testSeparateKinds } from './separate-kinds'

const path = '/v1/moderations'
const moderation = { category: 'moderation', pricing: { input: 1, output: 0 } }
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ environment: anthropicEnvironment })
  await fixture.model('judge', { ...moderation, upstream_model: 'ok' })
  await fixture.addProvider('texts', { moderationImages: false, drop: ['user'] })
  await fixture.addModel('texts/moderate-mistral', moderation)
  await fixture.addProvider('severe', { moderationFormat: 'azure_content_safety' })
  await fixture.addModel('severe/levels', moderation)
  const perText = { input: 0, output: 0, request: 0.000_38 }
  await fixture.addModel('severe/priced', { ...moderation, pricing: perText })
  const options = { moderationFormat: 'azure_content_safety', moderationFlagSeverity: 2 }
  await fixture.addProvider('strict', { ...options, moderationImages: false })
  await fixture.addModel('strict/levels', moderation)
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const judge = async (body: Record<string, unknown>) => {
  const response = await fixture.post(path, body)
  return { response, body: jsonOf(await response.json()) }
}

test('the official client receives a result for each text, under Tollgate’s name of the model', async () => {
  const { client } = fixture
  const input = ['Good morning', 'Plain violence']
  const answer = await client.moderations.create({ model: 'fake/judge', input })
  expect(answer.model).toBe('fake/judge')
  expect(answer.results.map(({ flagged }) => flagged)).toEqual([false, true])
  expect(answer.results[1]?.category_scores.violence).toBe(0.97)
  expect(fixture.sent()).toEqual({ model: 'ok', input })
})

test('a text, and the parts of one input, have one result', async () => {
  const parts = [{ type: 'text', text: 'A picture of hate' }, picture]
  for (const input of ['Some hate', parts]) {
    const { response, body } = await judge({ model: 'fake/judge', input })
    expect(response.status).toBe(200)
    expect(body['results']).toMatchObject([{ flagged: true }])
    expect(fixture.sent()).toEqual({ model: 'ok', input })
  }
})

test('categories of another maker pass as they are, without those of OpenAI', async () => {
  const { body } = await judge({ model: 'texts/moderate-mistral', input: ['my pii', 'nothing'] })
  expect(body).toMatchObject({ model: 'texts/moderate-mistral', id: 'modr-970d409e' })
  const results = body['results']
  expect(results).toMatchObject([{ categories: { pii: true } }, { categories: { pii: false } }])
  expect(Array.isArray(results) && Object.keys(jsonOf(results[0]))).toEqual([
    'categories',
    'category_scores',
  ])
})

test('a model of texts alone receives the texts of the parts joined, and an image is rejected', async () => {
  const model = 'texts/moderate-mistral'
  const parts = [
    { type: 'text', text: 'One' },
    { type: 'text', text: 'Two' },
  ]
  const { body } = await judge({ model, input: parts })
  expect(fixture.sent()['input']).toBe('One\nTwo')
  expect(body['results']).toHaveLength(1)
  const before = fixture.rig.upstream.requests().length
  const refused = await fixture.post(path, { model, input: [...parts, picture] })
  expect(refused.status).toBe(400)
  expect(await errorOf(refused)).toMatchObject({
    param: 'input.2',
    details: { issue: 'unsupported_by_model' },
  })
  expect(fixture.rig.upstream.requests()).toHaveLength(before)
})

describe('Azure AI Content Safety', () => {
  const severe = 'severe/levels'

  test.each([
    ['severe/levels', { hate: true, 'self-harm': false, sexual: false, violence: false }],
    ['strict/levels', { hate: true, 'self-harm': false, sexual: false, violence: true }],
  ])('severities of %s from its own one on are flagged', async (model, categories) => {
    const { client } = fixture
    const input = 'Some hate 4, and violence 3'
    const { results, ...answer } = await client.moderations.create({ model, input })
    expect(answer).toMatchObject({ model, id: expect.stringMatching(/^modr-/) })
    const scores = { hate: 4 / 7, 'self-harm': 0, sexual: 0, violence: 3 / 7 }
    const expected = { flagged: true, categories, category_scores: scores }
    expect(jsonOf(results[0])).toEqual(expected)
    expect(fixture.sent()).toEqual({ text: input, outputType: 'EightSeverityLevels' })
  })

  test('harmless text is not flagged, and parts of text are one input', async () => {
    const input = ['Good', 'morning'].map((text) => ({ type: 'text', text }))
    const { body } = await judge({ model: severe, input })
    expect(body['results']).toMatchObject([{ flagged: false }])
    expect(fixture.sent()['text']).toBe('Good\nmorning')
  })

  test('texts go one by one, have their results in order, and cost a request each', async () => {
    const before = fixture.rig.upstream.requests().length
    const input = Array.from({ length: 9 }, (_, k) => `violence ${k % 8}`)
    const response = await fixture.post(path, { model: 'severe/priced', input })
    expect(response.headers.get('x-tollgate-cost')).toBe('0.00342')
    const { results } = jsonOf(await response.json())
    expect(results).toMatchObject(
      input.map((_, k) => ({ category_scores: { violence: (k % 8) / 7 }, flagged: k % 8 >= 4 })),
    )
    expect(fixture.rig.upstream.requests()).toHaveLength(before + input.length)
  })

  test('an image goes as base64, and is flagged by its severities', async () => {
    const { body } = await judge({ model: severe, input: [picture] })
    const image = { content: 'iVBORw0KGgo=' }
    expect(fixture.sent()).toEqual({ image, outputType: 'FourSeverityLevels' })
    expect(body['results']).toMatchObject([
      { flagged: true, categories: { violence: true }, category_scores: { violence: 6 / 7 } },
    ])
  })

  const address = { type: 'image_url', image_url: { url: 'https://pictures.example/1.png' } }

  test.each([
    ['more texts than a hundred', 'input', { input: Array(101).fill('a') }],
    ['a text and an image', 'input', { input: [{ type: 'text', text: 'a' }, picture] }],
    ['several images', 'input', { input: [picture, picture] }],
    ['the address of an image', 'input.0', { input: [address] }],
    ['an image of a model of texts', 'input.0', { model: 'strict/levels', input: [picture] }],
  ])('%s is rejected before anything is sent', async (_what, param, request) => {
    const before = fixture.rig.upstream.requests().length
    const refused = await fixture.post(path, { model: severe, ...request })
    expect(refused.status).toBe(400)
    expect(await errorOf(refused)).toMatchObject({
      param,
      details: { issue: 'unsupported_by_model' },
    })
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
  })

  test('a rejection of the provider has its reason', async () => {
    const refused = await fixture.post(path, { model: severe, input: 'a'.repeat(10_001) })
    expect(refused.status).toBe(400)
    expect((await errorOf(refused))['message']).toContain('10,000 characters')
  })
})

describe('a request that names no model goes to the first that its key may call', () => {
  test('real models come before the sandbox', async () => {
    const answer = await fixture.client.moderations.create({ input: 'Good morning' })
    expect(answer.model).toBe('fake/judge')
  })

  test('a key for other models only must name a model', async () => {
    const { rig } = fixture
    const owner = await rig.gateway.customer({ permissions: ['admin'] })
    const newKey = async (allowedModels: string[]) => {
      const body = { name: 'One', permissions: ['write'], allowed_models: allowedModels }
      const request = { path: '/api/account/keys', key: owner.key, body }
      return String((await sendRequest(rig.gateway, request)).body['key'])
    }
    const call = (key: string) =>
      fixture.fetch(`${rig.gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ input: 'violence', model: null }),
      })
    const answer = await call(await newKey(['sandbox/*']))
    expect(await answer.json()).toMatchObject({
      model: 'sandbox/moderation',
      results: [{ flagged: true, categories: { violence: true, hate: false } }],
    })
    const refused = await call(await newKey(['sandbox/echo']))
    expect(refused.status).toBe(400)
    expect(await errorOf(refused)).toMatchObject({ param: 'model', details: { issue: 'required' } })
  })
})

test.each([
  ['nothing', undefined, { param: 'input', issue: 'required' }],
  ['an empty text', '', { param: 'input', issue: 'too_short' }],
  ['an empty list', [], { param: 'input', issue: 'empty' }],
  ['an empty text in a list', ['a', ''], { param: 'input.1', issue: 'too_short' }],
  ['too many texts', Array(2049).fill('a'), { param: 'input', issue: 'too_many' }],
  ['an object', {}, { param: 'input', issue: 'wrong_type' }],
])('%s as input is rejected with the field and the reason', async (_what, input, expected) => {
  const before = fixture.rig.upstream.requests().length
  const response = await fixture.post(path, { model: 'fake/judge', input })
  expect(response.status).toBe(400)
  const { param, issue } = expected
  expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
  expect(fixture.rig.upstream.requests()).toHaveLength(before)
})

testSeparateKinds(() => fixture, {
  path,
  fields: moderation,
  model: 'fake/judge',
  body: { input: 'a' },
})

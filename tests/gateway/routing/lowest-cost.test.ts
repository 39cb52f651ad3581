import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import { sendRequest, type Json } from '../../harness/http'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

let made = 0
const cheapestOf = (...members: string[]) =>
  fixture.collection({ name: `c${++made}`, routing_strategy: 'lowest_cost', members })

/** The model that serves a request. */
async function served(name: string, fields: Json = {}): Promise<unknown> {
  const { status, body, text } = await fixture.chat(name, fields)
  if (status !== 200) throw new Error(text)
  return body['model']
}

const long = { messages: [{ role: 'user', content: 'word '.repeat(6000) }] }

test('finding P1: lowest_cost goes by the price of the prompt’s length', async () => {
  const flat = await fixture.rig.model('ok-flat', { pricing: { input: 3, output: 3 } })
  const tiers = [{ above: 2000, input: 20, output: 20 }]
  const tiered = await fixture.rig.model('ok-tiered', { pricing: { input: 1, output: 1, tiers } })
  const name = await cheapestOf(flat, tiered)
  expect(await served(name)).toBe(tiered)
  expect(await served(name, long)).toBe(flat)
})

test('finding P1: lowest_cost goes by the price of the hour', async () => {
  const flat = await fixture.rig.model('ok-always', { pricing: { input: 1, output: 9 } })
  const tiers = [
    { from: '00:00', until: '12:00', input: 1 },
    { from: '12:00', until: '00:00', input: 1 },
  ]
  const hourly = await fixture.rig.model('ok-hours', { pricing: { input: 9, output: 8, tiers } })
  // 9 together, beside 10; without its hours it would be 17.
  expect(await served(await cheapestOf(flat, hourly))).toBe(hourly)
})

const rank = (model: string, documents: string[], fields: Json = {}) =>
  sendRequest(fixture.rig.gateway, {
    path: '/v1/rerank',
    key: fixture.customer.key,
    body: { model, query: 'one', documents, ...fields },
  })

describe('rankings are compared by the cost of their tokens and search units', () => {
  const short = ['one document']
  const long = Array.from({ length: 100 }, () => 'word '.repeat(100))
  let byToken: string
  let byUnit: string
  beforeAll(async () => {
    const category = 'rerank'
    byToken = await fixture.rig.model('ok-token', { category, pricing: { input: 1, output: 0 } })
    const pricing = { input: 0, output: 0, search: 0.002 }
    byUnit = await fixture.rig.model('ok-unit', { category, pricing })
  })

  test('lowest_cost chooses by the length of the documents', async () => {
    const name = await cheapestOf(byUnit, byToken)
    expect((await rank(name, short)).body['model']).toBe(byToken)
    expect((await rank(name, long)).body['model']).toBe(byUnit)
  })

  test('max_price bounds the search units of a million tokens', async () => {
    const fields = { provider: { max_price: { prompt: 1 } } }
    const rejected = await rank(byUnit, short, fields)
    expect([rejected.status, rejected.error.param]).toEqual([400, 'provider.max_price'])
    expect((await rank(byUnit, long, fields)).status).toBe(200)
    expect((await rank(byToken, short, fields)).status).toBe(200)
  })

  test('the list of models sorts them by full search units', async () => {
    const { body } = await fixture.api('GET /models?provider=fake&category=rerank&sort=price')
    expect(body['models']).toMatchObject([{ id: byUnit }, { id: byToken }])
    const cheap = await fixture.api('GET /models?provider=fake&category=rerank&max_price=0.03')
    expect(cheap.body['models']).toEqual([])
  })
})

describe.each([
  {
    category: 'image',
    unit: 'image',
    path: '/v1/images/generations',
    body: { prompt: 'one two' },
    // 37.9 USD for images of 1,000,000 tokens, beside 32 and a prompt's 0.5.
    byUnit: { input: 0, output: 0, made_image: 0.04 },
    byToken: { input: 5, output: 1, image_output: 32 },
    maxPrice: { completion: 35 },
  },
  {
    category: 'speech',
    unit: 'character',
    path: '/v1/audio/speech',
    body: { input: 'one two', voice: 'alloy' },
    // 22 USD for 1,000,000 characters, beside 0.15 and 20 for their sound.
    byUnit: { input: 0, output: 0, input_characters: 22 },
    byToken: { input: 0.6, output: 0, audio_output: 12 },
    maxPrice: { prompt: 21 },
  },
])('prices by $unit and by token are compared', (kind) => {
  const { category, path, body, maxPrice } = kind
  let byUnit: string
  let byToken: string
  beforeAll(async () => {
    byUnit = await fixture.rig.model(`ok-unit-${category}`, { category, pricing: kind.byUnit })
    byToken = await fixture.rig.model(`ok-token-${category}`, { category, pricing: kind.byToken })
  })

  const send = (model: string, fields: Json = {}) =>
    fetch(`${fixture.rig.gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${fixture.customer.key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model, ...body, ...fields }),
    })

  test('lowest_cost chooses the cheaper one', async () => {
    const name = await cheapestOf(byUnit, byToken)
    const answer = await send(name)
    await answer.arrayBuffer()
    const called = fixture.calledModels().at(-1)
    expect([answer.status, `fake/${called}`]).toEqual([200, byToken])
  })

  test('max_price rejects the price by unit', async () => {
    const fields = { provider: { max_price: maxPrice } }
    const rejected = await send(byUnit, fields)
    expect(rejected.status).toBe(400)
    expect(await rejected.json()).toMatchObject({ error: { param: 'provider.max_price' } })
    const accepted = await send(byToken, fields)
    await accepted.arrayBuffer()
    expect(accepted.status).toBe(200)
  })

  test('the list of models is in their order', async () => {
    const listed = await fixture.api(`GET /models?provider=fake&category=${category}&sort=price`)
    expect(listed.body['models']).toMatchObject([{ id: byToken }, { id: byUnit }])
  })
})

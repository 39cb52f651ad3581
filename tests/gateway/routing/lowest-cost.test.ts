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

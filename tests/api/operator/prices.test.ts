import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startRig, type Gateway, type Rig } from '../../harness/server'
import { sendSoon } from '../../harness/soon'
import { eventually } from '../../../server/testing/eventually'

let rig: Rig
let gateway: Gateway

beforeAll(async () => {
  rig = await startRig()
  gateway = rig.gateway
})
afterAll(async () => {
  gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const price = (input: number) => ({ pricing: { input, output: 4 } })

async function newModel(name: string, fields: object = price(1)): Promise<string> {
  const id = `fake/${name}`
  const model = { id, name, category: 'chat', ...fields }
  const { status, error } = await sendOperatorRequest(gateway, 'POST /models', model)
  expect([status, error]).toEqual([201, undefined])
  return id
}

interface Price {
  pricing: { input: number; currency: string } | null
  effective_at: string
}

async function pricesOf(id: string): Promise<Price[]> {
  const { status, body } = await sendOperatorRequest(gateway, `GET /models/${id}/prices`)
  expect(status).toBe(200)
  const { prices } = JSON.parse(JSON.stringify(body))
  return prices
}

const inputOf = async (id: string) => {
  const { body } = await sendOperatorRequest(gateway, `GET /models/${id}`)
  return JSON.parse(JSON.stringify(body)).pricing?.input
}

test('a price applies at once, and earlier prices are still listed', async () => {
  const id = await newModel('dearer')
  const set = await sendOperatorRequest(gateway, `PUT /models/${id}/prices`, price(2))
  expect(set.status).toBe(200)
  expect((await pricesOf(id)).map(({ pricing }) => pricing?.input)).toEqual([2, 1])
  expect(await inputOf(id)).toBe(2)
  // By its other fields too, where the slash is encoded as well.
  await sendOperatorRequest(gateway, `PUT /models/${encodeURIComponent(id)}`, price(3))
  expect(await inputOf(id)).toBe(3)
  const all = await sendOperatorRequest(gateway, `GET /models/${encodeURIComponent(id)}/prices`)
  expect(all.body['prices']).toHaveLength(3)
})

test('a planned price begins by itself, and is another one until then', async () => {
  const id = await newModel('soon')
  const effective_at = new Date(Date.now() + 86_400_000).toISOString()
  await sendOperatorRequest(gateway, `PUT /models/${id}/prices`, { ...price(9), effective_at })
  expect(await inputOf(id)).toBe(1)
  // Changed before it comes.
  const set = await sendOperatorRequest(gateway, `PUT /models/${id}/prices`, {
    ...price(7),
    effective_at,
  })
  expect(set.body).toMatchObject({ prices: [{ effective_at, pricing: { input: 7 } }, {}] })
  expect(await inputOf(id)).toBe(1)
  const begins = await sendSoon(async (at) => {
    await gateway.admin('PUT', `/models/${id}/prices`, { ...price(8), effective_at: at })
    return Date.parse(at)
  })
  await eventually(async () => (await inputOf(id)) !== 1)
  expect(Date.now()).toBeGreaterThanOrEqual(begins)
  expect(await inputOf(id)).toBe(8)
})

test('a call is charged the price of the model at its start', async () => {
  const id = await newModel('ok')
  const customer = await gateway.customer()
  const cost = async () => {
    const answer = await customer.client.chat.completions
      .create({ model: id, messages: [{ role: 'user', content: 'Hello' }] })
      .asResponse()
    await answer.text()
    return Number(answer.headers.get('x-tollgate-cost'))
  }
  const before = await cost()
  await sendOperatorRequest(gateway, `PUT /models/${id}/prices`, {
    pricing: { input: 10, output: 40 },
  })
  expect(await cost()).toBeCloseTo(10 * before, 9)
})

test('a model that comes with Tollgate is priced, and has its own price again without', async () => {
  const id = 'openai/gpt-4o-mini'
  const before = await inputOf(id)
  await sendOperatorRequest(gateway, `PUT /models/${id}/prices`, price(before + 1))
  expect(await inputOf(id)).toBe(before + 1)
  expect((await sendOperatorRequest(gateway, `DELETE /models/${id}`)).status).toBe(200)
  expect([await inputOf(id), await pricesOf(id)]).toEqual([before, []])
})

test.each([
  [{}, null, 'empty'],
  [{ effective_at: '2999-01-01' }, 'pricing', 'required'],
  [{ pricing: { input: 0, output: 0 } }, 'pricing', 'required'],
  [{ pricing: { input: -1, output: 1 } }, 'pricing.input', 'out_of_range'],
  [{ ...price(1), effective_at: '2020-01-01' }, 'effective_at', 'out_of_range'],
  [{ ...price(1), effective_at: 'soon' }, 'effective_at', 'bad_format'],
])('%j is rejected with param %p: %s', async (body, param, issue) => {
  const refused = await sendOperatorRequest(gateway, 'PUT /models/openai/gpt-4o/prices', body)
  expect(problem(refused)).toEqual([400, param, issue])
})

test('an unknown model has no prices', async () => {
  for (const [request, body] of [
    ['GET /models/fake/none/prices', undefined],
    ['PUT /models/fake/none/prices', price(1)],
  ] as const) {
    const { status, error } = await sendOperatorRequest(gateway, request, body)
    expect([status, error?.code]).toEqual([404, 'model_not_found'])
  }
})

test('the catalogue is listed by provider, category and state', async () => {
  await newModel('off', { ...price(1), enabled: false })
  const ids = async (query: string) => {
    const { body } = await sendOperatorRequest(gateway, `GET /models?limit=100&${query}`)
    const { models } = JSON.parse(JSON.stringify(body))
    return models.map(({ id }: { id: string }) => id)
  }
  expect(await ids('enabled=false')).toEqual(['fake/off'])
  expect(await ids('provider=fake&enabled=true')).not.toContain('fake/off')
  expect(await ids('provider=sandbox&category=embedding')).toEqual(['sandbox/embedding'])
  expect(problem(await sendOperatorRequest(gateway, 'GET /models?category=music'))).toEqual([
    400,
    'category',
    'unknown_value',
  ])
})

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { call, problem } from '../../harness/byok'
import { messages, type Json } from '../../harness/http'
import { errorForBody, oversizedPrompt } from '../prompts/too-large'
import { startRig, type Customer, type Rig } from '../../harness/server'

let rig: Rig
let plan: unknown

beforeAll(async () => {
  rig = await startRig({ environment: { MINIMUM_BALANCE_USD: '0.1' } })
  const limits = { requests_per_minute: 50, tokens_per_minute: 100_000, monthly_spend: 8 }
  plan = (await rig.gateway.admin('POST', '/plans', { name: 'limited', ...limits }))['id']
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => rig.gateway.recorder.verify())

const limited = (user: Json = {}) => rig.gateway.customer({}, { plan_id: plan, ...user })
const api = (request: string, by: Customer, body?: Json) => call(rig.gateway, by, request, body)
const estimate = (customer: Customer, body: Json) =>
  api('POST /user/quota/estimate-cost', customer, body)

test('by its tokens', async () => {
  const customer = await limited({ credit: 0.5 })
  const model = await rig.model('ok')
  const tokens = { input_tokens: 1000, output_tokens: 100 }
  const { status, body } = await estimate(customer, { model, ...tokens })
  expect([status, body]).toEqual([
    200,
    {
      model,
      ...tokens,
      input_cost: 0.001,
      output_cost: 0.0004,
      estimated_cost: 0.0014,
      currency: 'USD',
      payer: 'personal',
      payer_name: null,
      current_balance: 0.5,
      sufficient_balance: true,
    },
  ])
  const dear = await estimate(customer, { model, input_tokens: 500_001, output_tokens: 0 })
  expect(dear.body).toMatchObject({ estimated_cost: 0.500001, sufficient_balance: false })
  // The minimum balance counts too.
  const poor = await limited({ credit: 0.05 })
  expect((await estimate(poor, { model, ...tokens })).body['sufficient_balance']).toBe(false)
  const nothing = { model, input_tokens: 0, output_tokens: 0 }
  expect((await estimate(customer, nothing)).body['estimated_cost']).toBe(0)
})

test('by the request that would be sent; without a call of a provider, a count or a hold', async () => {
  const customer = await limited()
  const model = await rig.model('ok')
  const before = rig.upstream.requests().length
  const conversation = [{ role: 'user', content: 'one two three four five six seven eight' }]
  const { body } = await estimate(customer, { model, messages: conversation, max_tokens: 50 })
  expect(body).toMatchObject({ model, output_tokens: 50, output_cost: 0.0002 })
  expect(Number(body['input_tokens'])).toBeWithin(8, 30)
  expect(body['input_cost']).toBe(Number(body['input_tokens']) / 1e6)
  const prompts = await estimate(customer, { model, prompt: ['one two', [3, 4]] })
  expect(prompts.status).toBe(400)
  const two = await estimate(customer, { model, prompt: ['one two', 'three'], max_tokens: 10 })
  expect(two.body).toMatchObject({ input_tokens: 3, output_tokens: 20 })
  const ids = await estimate(customer, { model, prompt: [[1, 2, 3], [4]] })
  expect(ids.body).toMatchObject({ input_tokens: 4, output_tokens: 2048 })
  const embedding = await rig.model('vector', {
    category: 'embedding',
    pricing: { input: 1, output: 0 },
  })
  const embedded = await estimate(customer, { model: embedding, input: ['one', 'two three'] })
  expect(embedded.body).toMatchObject({ input_tokens: 3, output_tokens: 0, output_cost: 0 })
  expect(rig.upstream.requests()).toHaveLength(before)
  const { body: status } = await api('GET /user/quota/status', customer)
  const used = Array.isArray(status['quotas']) ? status['quotas'].map((quota) => quota.used) : []
  expect(used).toEqual([0, 0, 0, 0, 0, 0, 0])
})

test('a free model, and one behind a mapping', async () => {
  const customer = await limited({ credit: 0 })
  const free = await rig.model('free', { is_free: true, pricing: null })
  const tokens = { input_tokens: 10, output_tokens: 10 }
  expect((await estimate(customer, { model: free, ...tokens })).body).toMatchObject({
    estimated_cost: 0,
    current_balance: 0,
    sufficient_balance: true,
  })
  const mapping = { source_pattern: 'mine', target_model: await rig.model('ok') }
  await api('POST /user/model-mappings', customer, mapping)
  const mapped = await estimate(customer, { model: 'mine', ...tokens })
  expect(mapped.body).toMatchObject({ model: 'fake/ok', estimated_cost: 0.00005 })
})

test('an unserved model has its price in the catalogue', async () => {
  const { admin } = rig.gateway
  await admin('POST', '/providers', { key: 'later', name: 'Later', adapter: 'openai' })
  const pricing = { input: 2, output: 2 }
  await admin('POST', '/models', { id: 'later/m', name: 'M', category: 'chat', pricing })
  const body = { model: 'later/m', input_tokens: 500_000, output_tokens: 500_000 }
  const answer = await estimate(await limited(), body)
  expect([answer.status, answer.body['estimated_cost']]).toEqual([200, 2])
})

test.each<[Json, string, string]>([
  [{ model: undefined }, 'model', 'required'],
  [{}, 'input_tokens', 'required'],
  [{ output_tokens: 1 }, 'input_tokens', 'required'],
  [{ input_tokens: 1 }, 'output_tokens', 'required'],
  [{ input_tokens: -1, output_tokens: 1 }, 'input_tokens', 'out_of_range'],
  [{ input_tokens: 1, output_tokens: 1e9 + 1 }, 'output_tokens', 'out_of_range'],
  [{ input_tokens: 'x', output_tokens: 1 }, 'input_tokens', 'wrong_type'],
  [{ input_tokens: 1, output_tokens: 1, messages }, 'input_tokens', 'conflict'],
  [{ messages, prompt: 'x' }, 'prompt', 'conflict'],
  [{ messages: [{ role: 'nobody', content: 'x' }] }, 'messages.0.role', 'unknown_value'],
  [{ messages: [] }, 'messages', 'empty'],
  [{ prompt: 7 }, 'prompt', 'wrong_type'],
  [{ messages, max_tokens: -1 }, 'max_tokens', 'out_of_range'],
])('%j is rejected at %s: %s', async (body, param, issue) => {
  const answer = await estimate(await limited(), { model: await rig.model('ok'), ...body })
  expect(problem(answer)).toEqual([400, param, issue])
})

test.each(['nothing', 'fake/unknown', 'collection/none', 'nobody/x/y'])(
  'the name %s is not a model',
  async (model) => {
    const tokens = { input_tokens: 1, output_tokens: 1 }
    const { status, error } = await estimate(await limited(), { model, ...tokens })
    expect([status, error.code]).toEqual([404, 'model_not_found'])
  },
)

test('a body may have 8 MB', async () => {
  const customer = await limited()
  const content = 'word '.repeat(1_400_000)
  const request = { model: await rig.model('ok'), messages: [{ role: 'user', content }] }
  const { status, body } = await estimate(customer, request)
  expect(status).toBe(200)
  expect(Number(body['input_tokens'])).toBeGreaterThan(1_000_000)
  const large = { path: '/api/user/quota/estimate-cost', bytes: 8 * 1024 * 1024 + 1 }
  expect(await errorForBody(rig.gateway, customer, large)).toMatchObject(oversizedPrompt)
})

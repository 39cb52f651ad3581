import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startRig, type Gateway, type Rig } from '../../harness/server'

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

const maxPrice = 1_000_000
const messages = [{ role: 'user' as const, content: 'Hello' }]

async function call(model: string, fields: object = {}, credit = 1e9) {
  const customer = await gateway.customer({}, { credit, limits: { tokens_per_minute: null } })
  const response = await gateway.recorder.fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, ...fields }),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

/** Lines of the log about a stored value that its reader refused. */
const refusedReads = () =>
  gateway
    .output()
    .split('\n')
    .filter((line) => /is invalid and was skipped/.test(line))

test('M7: a price above the bound is rejected where it is set, by name', async () => {
  const pricing = { input: 1, output: 1_000_000_000 }
  const model = { id: 'fake/ok', name: 'ok', category: 'chat' }
  const refused = ['pricing.output', 'out_of_range']
  const made = await sendOperatorRequest(gateway, 'POST /models', { ...model, pricing })
  expect(problem(made)).toEqual([400, ...refused])
  expect(made.error?.message).toContain('1000000')
  await sendOperatorRequest(gateway, 'POST /models', { ...model, pricing: { input: 1, output: 1 } })
  expect(problem(await sendOperatorRequest(gateway, 'PUT /models/fake/ok', { pricing }))).toEqual([
    400,
    ...refused,
  ])
  const set = await sendOperatorRequest(gateway, 'PUT /models/fake/ok/prices', { pricing })
  expect(problem(set)).toEqual([400, ...refused])
  expect((await call('fake/ok')).status).toBe(200)
})

test('M7: serves a model at the maximum price of every kind to an account with credit', async () => {
  const id = await rig.model('dearest', {
    upstream_model: 'ok',
    pricing: Object.fromEntries(
      ['input', 'output', 'cached_input', 'cache_write', 'reasoning', 'image', 'request'].map(
        (name) => [name, maxPrice],
      ),
    ),
  })
  expect((await call(id)).status).toBe(200)
  expect(refusedReads()).toEqual([])
})

test('M7: the most expensive possible request is 402, at any cost', async () => {
  const id = await rig.model('dearest-answer', {
    upstream_model: 'ok',
    context_length: 1_000_000_000,
    max_output_tokens: 1_000_000_000,
    pricing: { input: maxPrice, output: maxPrice, request: maxPrice },
  })
  const dearest = { n: 8, max_tokens: 999_999_000 }
  const { status, body } = await call(id, dearest, 100)
  expect([status, body.error]).toMatchObject([402, { code: 'insufficient_credits' }])
  expect([200, 402]).toContain((await call(id, dearest)).status)
})

test('M7: settings at their bounds hold as they were sent', async () => {
  const settings = { minimum_balance: 1e9, warning_threshold: 1e9 }
  const before = await sendOperatorRequest(gateway, 'GET /config')
  const changed = await sendOperatorRequest(gateway, 'PUT /config', settings)
  expect([changed.status, changed.body]).toMatchObject([200, settings])
  expect((await sendOperatorRequest(gateway, 'GET /config')).body).toMatchObject(settings)
  const { minimum_balance, warning_threshold } = before.body
  await sendOperatorRequest(gateway, 'PUT /config', { minimum_balance, warning_threshold })
  expect(refusedReads()).toEqual([])
})

const max = 2_147_483_647

test('M7: limits at their bounds serve the account that has them', async () => {
  const limits = {
    requests_per_minute: max,
    tokens_per_minute: max,
    concurrent_requests: max,
    monthly_requests: max,
    monthly_spend: 1e9,
  }
  const id = await rig.model('ok-limits', { upstream_model: 'ok' })
  const plan = await sendOperatorRequest(gateway, 'POST /plans', { name: 'wide', ...limits })
  expect([plan.status, plan.body]).toMatchObject([201, limits])
  const customer = await gateway.customer(
    { rate_limit_rpm: max, monthly_spend_limit: 1e9 },
    { plan_id: plan.body['id'], limits },
  )
  const answer = await customer.client.chat.completions.create({ model: id, messages })
  expect(answer.choices).toHaveLength(1)
})

// PostgreSQL knows no year 0, and JavaScript no time after September 275760.
test.each(['0000-01-01', '0000-12-31T23:59:59Z', '9999-12-31T23:59:59-14:00', '0001-01-01'])(
  'M7: %s as a time is stored and read again, or rejected',
  async (time) => {
    const id = `fake/at-${time.replaceAll(/\W/g, '')}`
    const model = { id, name: id, category: 'chat', is_free: true, upstream_model: 'ok' }
    const made = await sendOperatorRequest(gateway, 'POST /models', { ...model, created_at: time })
    expect([201, 400]).toContain(made.status)
    if (made.status === 201) expect((await call(id)).status).toBe(200)
    expect(refusedReads()).toEqual([])
  },
)

test('M7: options of providers and connections that are accepted serve requests', async () => {
  const provider = {
    key: 'odd',
    name: 'Odd',
    adapter: 'openai',
    base_url: rig.upstream.url,
    options: { clamp: { temperature: [-1e308, 1e308] }, rename: { a: 'b' }, drop: ['x'] },
  }
  expect((await sendOperatorRequest(gateway, 'POST /providers', provider)).status).toBe(201)
  const connection = { name: 'Odd', provider: 'odd', api_key: 'x', options: { region: 'a' } }
  expect((await sendOperatorRequest(gateway, 'POST /connections', connection)).status).toBe(201)
  const model = { id: 'odd/ok', name: 'ok', category: 'chat', is_free: true }
  expect((await sendOperatorRequest(gateway, 'POST /models', model)).status).toBe(201)
  expect((await call('odd/ok', { temperature: 1 })).status).toBe(200)
  expect(refusedReads()).toEqual([])
})

test('M7: credits are granted up to the maximum of an account, then rejected', async () => {
  const { userId } = await gateway.customer({}, { credit: 0 })
  const grant = { user_id: userId, amount: 1_000_000_000, reason: 'test' }
  const answers = []
  for (let times = 0; times < 12; times++)
    answers.push(await sendOperatorRequest(gateway, 'POST /credits/grant', grant))
  const given = answers.filter(({ status }) => status === 201)
  expect(given.length).toBeGreaterThan(0)
  for (const answer of answers.slice(given.length)) {
    expect(problem(answer)).toEqual([400, 'amount', 'out_of_range'])
  }
  const { body } = await sendOperatorRequest(gateway, `GET /users/${userId}`)
  expect(body['balance']).toBe(given.length * grant.amount)
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn, createFixture, type Fixture } from './fixture'
import { sendRequest, sendRaw, messages, type Answer, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const newCustomer = (key: Json = {}, user: Json = {}): Promise<Customer> =>
  fixture.rig.gateway.customer({ permissions: ['admin'], ...key }, user)

/** A customer on a plan of his own. */
async function limited(limits: Json): Promise<Customer> {
  const plan = await fixture.rig.gateway.admin('POST', '/plans', {
    name: `plan ${crypto.randomUUID().slice(0, 8)}`,
    requests_per_minute: 1_000_000,
    tokens_per_minute: 1_000_000,
    concurrent_requests: 1000,
    ...limits,
  })
  return newCustomer({}, { plan_id: plan['id'] })
}

async function expectRefusal(answer: Answer, as: Customer, named: string): Promise<void> {
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(await fixture.logOf(answer, as)).toMatchObject({
    status: 'error',
    status_code: answer.status,
    error: { type: answer.error.type, code: answer.error.code, message: answer.error.message },
    model: named,
    requested_model: named,
    provider: null,
    connection_id: null,
    billing_mode: null,
    gateway_type: null,
    cost: 0,
    total_tokens: 0,
  })
}

test('check 3: a refused rate is logged, of a body that was not read', async () => {
  const customer = await limited({ requests_per_minute: 1 })
  expect((await fixture.chat('ok', {}, customer)).status).toBe(200)
  const refused = await fixture.chat('ok', {}, customer)
  expect(refused.status).toBe(429)
  await expectRefusal(refused, customer, '')
})

test('check 3: so is a refused place', async () => {
  const customer = await limited({ concurrent_requests: 1 })
  const model = await fixture.rig.model('stall-after')
  using running = await sendRaw(fixture.rig.gateway, {
    key: customer.key,
    body: { model, messages, stream: true },
  })
  await running.until((received) => received.includes('data: '))
  const refused = await fixture.chat('ok', {}, customer)
  expect(refused.error.code).toBe('rate_limit_exceeded')
  await expectRefusal(refused, customer, '')
})

const checks: [string, Json | string, string, string][] = [
  ['4, no JSON', '{"model": ', 'invalid_request', ''],
  ['4, a wrong field', { model: 'fake/ok', messages: [] }, 'invalid_request', 'fake/ok'],
  ['5, no name of a model', { model: 'nothing', messages }, 'invalid_model', 'nothing'],
  ['7, a collection', { model: 'collection/none', messages }, 'model_not_found', 'collection/none'],
  ['8, an unknown model', { model: 'no/such', messages }, 'model_not_found', 'no/such'],
  [
    '10, the output limit',
    { model: 'fake/ok', messages, max_tokens: 1_000_000 },
    'max_tokens_exceeded',
    'fake/ok',
  ],
]

test.each(checks)('check %s', async (...[, body, code, named]) => {
  await fixture.rig.model('ok')
  const answer = await fixture.post(body)
  expect(answer.error.code).toBe(code)
  await expectRefusal(answer, fixture.customer, named)
})

test('check 9: no access', async () => {
  await fixture.rig.gateway.admin('POST', '/providers', {
    key: 'alone',
    name: 'Alone',
    adapter: 'openai',
    base_url: fixture.rig.upstream.url,
  })
  await fixture.rig.model('unused')
  await fixture.rig.gateway.admin('POST', '/models', {
    id: 'alone/model',
    name: 'model',
    category: 'chat',
    context_length: 8192,
    max_output_tokens: 100,
    pricing: { input: 1, output: 1 },
  })
  const answer = await fixture.post({ model: 'alone/model', messages })
  expect(answer.error.code).toBe('model_access_denied')
  await expectRefusal(answer, fixture.customer, 'alone/model')
})

test('check 11: the token rate', async () => {
  const customer = await limited({ tokens_per_minute: 10 })
  const answer = await fixture.chat('ok', {}, customer)
  expect(answer.error.code).toBe('tokens_per_minute_exceeded')
  await expectRefusal(answer, customer, 'fake/ok')
})

test('check 12: the balance', async () => {
  const customer = await newCustomer({}, { credit: 0 })
  const answer = await fixture.chat('ok', {}, customer)
  expect(answer.error.code).toBe('insufficient_credits')
  await expectRefusal(answer, customer, 'fake/ok')
})

test('a request rejected for its key or permission has no log', async () => {
  const reader = await newCustomer({ permissions: ['read'] })
  const { gateway } = fixture.rig
  const forbidden = await fixture.chat('ok', {}, reader)
  expect(forbidden.status).toBe(403)
  const unknown = await sendRequest(gateway, {
    key: 'sk-tg-none',
    body: { model: 'fake/ok', messages },
  })
  expect(unknown.status).toBe(401)
  expect(listIn(await fixture.read('', reader), 'logs')).toEqual([])
  const rows = await fixture.sql`
    select id from request_log where id in (
      ${forbidden.headers.get('x-request-id')}, ${unknown.headers.get('x-request-id')})`
  expect(rows).toHaveLength(0)
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  balanceOf,
  buy,
  checkout,
  createPaidFixture,
  sessionOf,
  transactionsOf,
  type PaidFixture,
} from './fixture'
import { eventually } from '../../../server/testing/eventually'
import { deliver } from './stripe-events'
import { newOrganization } from '../../harness/organization'
import { call, problem, startUpstream, type Upstream } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import type { Json } from '../../harness/http'
import { startGateway } from '../../harness/server'

let fixture: PaidFixture
/** Organizations may have connections, though none of these has. */
let upstream: Upstream

beforeAll(async () => {
  upstream = startUpstream()
  fixture = await createPaidFixture()
  await fixture.gateway.admin('PUT', '/config', {
    allowed_return_origins: ['https://shop.example'],
  })
})
afterAll(async () => {
  fixture.gateway.recorder.verify()
  await using sql = await openDatabase(fixture.gateway.dataDir)
  await expectSoundLedger(sql)
  await fixture[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const organization = (fields: Json = {}) =>
  newOrganization({ ...fixture, upstream, reset: () => undefined }, fields)

test('a checkout leads to the processor, and its payment to the balance', async () => {
  const { gateway, double } = fixture
  const customer = await fixture.newCustomer()
  const answer = await checkout(gateway, customer, { amount: 12.34 })
  expect(answer.status).toBe(201)
  const { id, url, created_at, expires_at } = answer.body
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^cs_[0-9a-z]{26}$/),
    url: expect.stringContaining('https://checkout.simulated.example/'),
    amount: 12.34,
    currency: 'USD',
    status: 'pending',
    organization_id: null,
    expires_at: expect.any(String),
    created_at: expect.any(String),
  })
  expect(Date.parse(String(expires_at)) - Date.parse(String(created_at))).toBe(86_400_000)
  const sessionCall = double.calls.findLast(({ path }) => path === '/v1/checkout/sessions')
  expect(sessionCall?.key).toBe(String(id))
  expect(Object.fromEntries(sessionCall?.form ?? [])).toMatchObject({
    mode: 'payment',
    'line_items[0][price_data][unit_amount]': '1234',
    'line_items[0][price_data][currency]': 'usd',
    success_url: `${gateway.url}/billing?checkout=${String(id)}`,
    cancel_url: `${gateway.url}/billing`,
  })
  expect(await transactionsOf(gateway, customer)).toMatchObject([
    { id, type: 'purchase', status: 'pending', amount: 12.34, balance_after: null },
  ])
  const { completed } = double.pay(String(url).split('/').at(-1) ?? '')
  expect(await deliver(gateway.url, completed)).toEqual({ status: 200, body: { received: true } })
  expect(await balanceOf(gateway, customer)).toMatchObject({ balance: 12.34 })
  expect(await transactionsOf(gateway, customer)).toMatchObject([
    {
      type: 'purchase',
      status: 'completed',
      amount: 12.34,
      balance_after: 12.34,
      reference_id: id,
    },
  ])
})

test.each<[Json, unknown[]]>([
  [{}, ['amount', 'required']],
  [{ amount: '5' }, ['amount', 'wrong_type']],
  [{ amount: 0.99 }, ['amount', 'out_of_range']],
  [{ amount: 10_000.01 }, ['amount', 'out_of_range']],
  [{ amount: 5.001 }, ['amount', 'out_of_range']],
  [{ amount: 5, currency: 'EUR' }, ['currency', 'unknown_value']],
  [{ amount: 5, save_payment_method: 'yes' }, ['save_payment_method', 'wrong_type']],
  [{ amount: 5, success_url: 'shop' }, ['success_url', 'bad_format']],
  [{ amount: 5, success_url: 'javascript:alert(1)' }, ['success_url', 'bad_format']],
  [{ amount: 5, success_url: 'https://shop.example@evil.example/' }, ['success_url', 'bad_format']],
  [{ amount: 5, success_url: 'https://evil.example/' }, ['success_url', 'not_allowed']],
  [{ amount: 5, cancel_url: 'https://shop.example.evil.example/' }, ['cancel_url', 'not_allowed']],
  [{ amount: 5, cancel_url: 'http://shop.example/' }, ['cancel_url', 'not_allowed']],
  [
    { amount: 5, cancel_url: `https://shop.example/${'a'.repeat(2000)}` },
    ['cancel_url', 'too_long'],
  ],
])('an invalid order is rejected: %#', async (body, wanted) => {
  const customer = await fixture.newCustomer()
  expect(problem(await checkout(fixture.gateway, customer, body))).toEqual([400, ...wanted])
})

test('it leads back where the operator allows it', async () => {
  const customer = await fixture.newCustomer()
  const success_url = 'https://shop.example/done?a=1'
  const cancel_url = `${fixture.gateway.url}/elsewhere`
  const answer = await checkout(fixture.gateway, customer, { amount: 5, success_url, cancel_url })
  expect(answer.status).toBe(201)
  const { form } = fixture.double.calls.at(-1) ?? {}
  expect([form?.get('success_url'), form?.get('cancel_url')]).toEqual([success_url, cancel_url])
})

test('W11: clicked twenty times under one key, it is one checkout', async () => {
  const { gateway, double } = fixture
  const customer = await fixture.newCustomer()
  const before = double.calls.length
  const key = `click-${crypto.randomUUID()}`
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => checkout(gateway, customer, { amount: 20, key })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201))
  expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1)
  expect(double.calls.length - before).toBe(1)
  const reused = await checkout(gateway, customer, { amount: 21, key })
  expect(problem(reused)).toEqual([400, 'Idempotency-Key', 'key_reused'])
  const bad = await checkout(gateway, customer, { amount: 21, key: 'a'.repeat(256) })
  expect(problem(bad)).toEqual([400, 'Idempotency-Key', 'bad_format'])
})

test('a key is free again if its request was rejected before the processor was called', async () => {
  const customer = await fixture.newCustomer()
  const key = `later-${crypto.randomUUID()}`
  expect((await checkout(fixture.gateway, customer, { amount: 0, key })).status).toBe(400)
  expect((await checkout(fixture.gateway, customer, { amount: 1, key })).status).toBe(201)
})

test('retries a processor that is busy or silent, with the same idempotency key', async () => {
  const { gateway, double } = fixture
  const customer = await fixture.newCustomer()
  double.faults.push('drop', 'busy')
  const before = double.calls.length
  const answer = await checkout(gateway, customer, { amount: 5 })
  expect(answer.status).toBe(201)
  const names = double.calls.slice(before).map(({ key }) => key)
  expect(names).toEqual(Array.from({ length: 3 }, () => String(answer.body['id'])))
})

test('a payment whose event precedes the answer to the checkout is credited once', async () => {
  const { gateway, double } = fixture
  const customer = await fixture.newCustomer()
  const statuses: number[] = []
  double.beforeAnswer = async (session) => {
    const { completed, succeeded } = double.pay(session)
    for (const event of [succeeded, completed]) {
      statuses.push((await deliver(gateway.url, event)).status)
    }
  }
  const answer = await checkout(gateway, customer, { amount: 5 })
  double.beforeAnswer = undefined
  expect([answer.status, ...statuses]).toEqual([201, 200, 200])
  expect(answer.body).toMatchObject({ status: 'completed' })
  expect(await balanceOf(gateway, customer)).toMatchObject({ balance: 5 })
})

test('a processor that rejects is 502, without our key', async () => {
  const { gateway, double } = fixture
  const customer = await fixture.newCustomer()
  double.faults.push('refuse')
  const answer = await checkout(gateway, customer, { amount: 5 })
  expect([answer.status, answer.error.code]).toEqual([502, 'provider_error'])
  expect(answer.error.details).toEqual({ provider: 'stripe', provider_error: 'amount_too_large' })
  expect(await transactionsOf(gateway, customer)).toMatchObject([{ status: 'failed' }])
})

test('an unreachable processor is 502; without any the error names the settings', async () => {
  await using gateway = await startGateway({
    environment: {
      STRIPE_SECRET_KEY: 'sk_test_0123456789',
      STRIPE_WEBHOOK_SECRET: 'whsec_0123456789abcdef0123',
      STRIPE_API_BASE: 'http://127.0.0.1:9',
    },
  })
  const customer = await gateway.customer({}, { credit: 0 })
  const answer = await checkout(gateway, customer, { amount: 5 })
  expect([answer.status, answer.error.code]).toEqual([502, 'connection_failed'])
  await using bare = await startGateway()
  // Without a secret there is nothing to send events to.
  expect((await deliver(bare.url, {})).status).toBe(404)
  const other = await bare.customer({}, { credit: 0 })
  const refused = await checkout(bare, other, { amount: 5 })
  expect(problem(refused)).toEqual([400, null, 'not_allowed'])
  expect(refused.error.message).toContain('STRIPE_SECRET_KEY')
})

test('a manager of an organization buys for it, with a permitted key', async () => {
  const { gateway } = fixture
  const { id, owner, member } = await organization()
  const admin = await member('admin')
  const developer = await member('developer')
  const stranger = await fixture.newCustomer()
  await buy(fixture, admin, { amount: 7, organization_id: id })
  const path = `/billing/balance?organization_id=${id}`
  expect((await call(gateway, owner, `GET ${path}`)).body).toMatchObject({
    balance: 7,
    organization_id: id,
    funding_source: 'organization',
  })
  expect(await balanceOf(gateway, admin)).toMatchObject({ balance: 0, organization_id: null })
  const order = { amount: 7, organization_id: id }
  const low = await checkout(gateway, developer, order)
  expect([low.status, low.error.details]).toEqual([
    403,
    { required: ['owner', 'admin'], current: ['developer'] },
  ])
  expect((await checkout(gateway, stranger, order)).status).toBe(404)
  expect((await checkout(gateway, owner, { ...order, organization_id: 'org_1' })).status).toBe(404)
  const saving = await checkout(gateway, owner, { ...order, save_payment_method: true })
  expect(problem(saving)).toEqual([400, 'save_payment_method', 'conflict'])
  const writing = await gateway.admin('POST', `/users/${owner.userId}/keys`, { name: 'writes' })
  const plain = await checkout(gateway, { key: String(writing['key']) }, order)
  expect([plain.status, plain.error.details]).toEqual([
    403,
    { required: ['admin'], current: ['read', 'write'] },
  ])
})

test('reading is not buying', async () => {
  const reader = await fixture.gateway.customer({ permissions: ['read'] }, { credit: 0 })
  const answer = await checkout(fixture.gateway, reader, { amount: 5 })
  expect([answer.status, answer.error.details]).toEqual([
    403,
    { required: ['write'], current: ['read'] },
  ])
})

test('a checkout session belongs to its own account only', async () => {
  const { gateway, double } = fixture
  const [one, other] = [await fixture.newCustomer(), await fixture.newCustomer()]
  const session = sessionOf(await checkout(gateway, one, { amount: 5 }))
  const foreign = sessionOf(await checkout(gateway, other, { amount: 5 }))
  // Another account's order, in the name of this checkout.
  const { metadata, client_reference_id } = double.session(foreign)
  const { completed } = double.pay(session, { metadata, client_reference_id })
  expect((await deliver(gateway.url, completed)).status).toBe(200)
  expect(await balanceOf(gateway, one)).toMatchObject({ balance: 0 })
  expect(await balanceOf(gateway, other)).toMatchObject({ balance: 0 })
  await eventually(async () =>
    gateway.output().includes('by another checkout than that of its order'),
  )
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  createFundingFixture,
  waitForValue,
  type FundingFixture,
} from '../../money/funding/fixture'
import { sendOperatorRequest, problem } from '../../harness/operator'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

/** A call has 5 tokens in and 3 out: at 1 and 1,000 USD a million, and at half of that. */
const [price, cost] = [0.003005, 0.0015025]
const cost_pricing = { input: 0.5, output: 500 }

let on: FundingFixture
let customer: Customer

beforeAll(async () => {
  await untilDayLasts()
  on = await createFundingFixture()
  customer = await on.fixture.newCustomer()
  await on.grant({ user_id: customer.userId })
}, 30_000 + dayWaitMs)
afterAll(async () => {
  on.fixture.gateway.recorder.verify()
  await on[Symbol.asyncDispose]()
})

const operate = (request: string, body?: object) =>
  sendOperatorRequest(on.fixture.gateway, request, body)

const setCost = async (pricing: object | null) => {
  const { status, body } = await operate('PUT /models/fake/one', { cost_pricing: pricing })
  expect(status).toBe(200)
  return body
}

/** Sends a request and returns its id. */
async function send(by = customer): Promise<string> {
  const { status, headers } = await on.chat(by)
  expect(status).toBe(200)
  return headers.get('x-request-id') ?? ''
}

/** Reads the margin of a request, once it is booked. */
async function marginOf(id: string): Promise<Json> {
  await waitForValue(async () => (await operate(`GET /request-logs/${id}`)).status, 200)
  const { body } = await operate(`GET /request-logs/${id}`)
  const { revenue, provider_cost, margin } = body
  return { revenue, provider_cost, margin }
}

const usageOf = async ({ userId }: Customer): Promise<Json> => {
  const { body } = await operate('GET /usage?period=24h')
  const accounts: Json[] = Object(body['by_account'])
  return accounts.find((one) => one['user_id'] === userId) ?? {}
}

const countRequests = async () => Number((await usageOf(customer))['requests'] ?? 0)

test('a request has its charge, the cost of its provider and the margin; the account sees its charge alone', async () => {
  expect(await setCost(cost_pricing)).toMatchObject({
    pricing: { input: 1, output: 1000 },
    cost_pricing,
    cost_source: 'operator',
  })
  const id = await send()
  expect(await marginOf(id)).toEqual({
    revenue: price,
    provider_cost: cost,
    margin: Number((price - cost).toFixed(9)),
  })
  const seen = await on.api(customer, `GET /account/request-logs/${id}`)
  expect(seen.body).toMatchObject({ id, cost: price })
  const answers = [
    seen,
    await on.api(customer, 'GET /account/request-logs'),
    await on.api(customer, 'GET /models/fake/one'),
    await on.api(customer, 'GET /billing/metrics?period=24h'),
  ]
  for (const { text } of answers)
    expect(text).not.toMatch(/provider_cost|cost_pricing|margin|uncosted/)
})

test('without a cost that is set or published, it is unknown, and the request is counted', async () => {
  expect(await setCost(null)).toMatchObject({ cost_pricing: null, cost_source: null })
  const by = await on.fixture.newCustomer()
  await on.grant({ user_id: by.userId })
  expect(await marginOf(await send(by))).toEqual({
    revenue: price,
    provider_cost: null,
    margin: null,
  })
  await waitForValue(async () => (await usageOf(by))['requests'], 1)
  expect(await usageOf(by)).toMatchObject({
    cost: price,
    revenue: price,
    provider_cost: 0,
    uncosted_requests: 1,
  })
})

test('a request with a key of the account costs the house nothing', async () => {
  await setCost(cost_pricing)
  const by = await on.fixture.newCustomer()
  const { status } = await on.api(by, 'POST /connections', {
    name: 'Mine',
    provider: 'fake',
    api_key: 'sk-mine-0123456789',
    endpoint_url: on.fixture.upstream.url,
  })
  expect(status).toBe(201)
  expect(await marginOf(await send(by))).toEqual({ revenue: 0, provider_cost: 0, margin: 0 })
})

test('an account that the house pays for costs it the provider’s price, which is a loss', async () => {
  await setCost(cost_pricing)
  const by = await on.fixture.newCustomer()
  await operate('POST /plans', { name: 'House', house_pays: true })
  await on.sql`
    update users set plan_id = (select id from plan where house_pays limit 1) where id = ${by.userId}`
  await waitForValue(async () => (await on.chat(by)).status, 200)
  const countServed = async () => {
    const { requests, failed_requests: failed } = await usageOf(by)
    return Number(requests ?? 0) - Number(failed ?? 0)
  }
  await waitForValue(countServed, 1)
  expect(await usageOf(by)).toMatchObject({ revenue: 0, provider_cost: cost, margin: -cost })
})

test('the overview and the breakdown of operators have the margin of all requests, as SQL has', async () => {
  await setCost(cost_pricing)
  const before = await countRequests()
  await send()
  await waitForValue(countRequests, before + 1)
  const [sums] = await on.sql`
    select
      (sum(case when billing_mode = 'house' then 0 else cost end)
        - sum(coalesce(provider_cost, 0)))::bigint as margin
    from request_log`
  const margin = Number(sums?.margin) / 1e9
  const { body } = await operate('GET /usage?period=24h')
  expect(body['summary']).toMatchObject({ margin })
  for (const part of ['by_provider', 'by_model', 'by_account', 'time_series']) {
    const parts: Json[] = Object(body[part])
    expect(parts.reduce((sum, one) => sum + Number(one['margin']), 0)).toBeCloseTo(margin, 9)
  }
  const day = new Date().toISOString().slice(0, 10)
  for (const by of ['model', 'provider', 'account', 'tag']) {
    const query = `start_date=${day}&end_date=${day}&group_by=${by}`
    const breakdown = await operate(`GET /usage/breakdown?${query}`)
    expect(breakdown.body['total']).toMatchObject({ margin })
  }
})

test('a model that comes with Tollgate has the published cost of its provider, at any price', async () => {
  const id = 'openai/gpt-4o-mini'
  const read = async () => (await operate(`GET /models/${id}`)).body
  const { pricing } = await read()
  expect(await read()).toMatchObject({ cost_pricing: pricing, cost_source: 'published' })
  await operate(`PUT /models/${id}`, { pricing: { input: 7, output: 9 } })
  expect(await read()).toMatchObject({
    pricing: { input: 7 },
    cost_pricing: pricing,
    cost_source: 'published',
  })
  await operate(`PUT /models/${id}`, { cost_pricing })
  expect(await read()).toMatchObject({
    pricing: { input: 7 },
    cost_pricing,
    cost_source: 'operator',
  })
  await operate(`DELETE /models/${id}`)
  expect(await read()).toMatchObject({ pricing, cost_pricing: pricing, cost_source: 'published' })
})

test('a cost alone overrides nothing else of a model that comes with Tollgate', async () => {
  const id = 'openai/gpt-4o'
  await operate(`PUT /models/${id}`, { cost_pricing })
  const [row] = await on.sql`select count(*)::int as rows from model where id = ${id}`
  expect(row?.rows).toBe(0)
  expect((await operate(`DELETE /models/${id}`)).status).toBe(200)
})

test.each([
  [{ cost_pricing: { input: -1, output: 1 } }, 'cost_pricing.input', 'out_of_range'],
  [{ cost_pricing: { input: 1 } }, 'cost_pricing.output', 'required'],
])('%j is rejected at %p: %s', async (body, param, issue) => {
  const refused = await operate('PUT /models/fake/one', body)
  expect(problem(refused)).toEqual([400, param, issue])
})

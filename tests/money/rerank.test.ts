import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  accountOf,
  findBookedOnce,
  reportedCost,
  startBilling,
  type Billing,
} from '../harness/ledger'
import { sendRequest, type Json } from '../harness/http'
import { upstreamSecret, type Customer } from '../harness/server'
import { testSingleCharge } from './single-charge'

const path = '/v1/rerank'
const credit = 10_000_000_000n
/** 2 USD for 1,000 search units, as Cohere has it. */
const unit = 2_000_000n
const byUnit = { category: 'rerank', pricing: { input: 0, output: 0, search: 0.002 } }
const byToken = { category: 'rerank', pricing: { input: 1, output: 0 } }
const cohere = 'cohere/rank-cohere'
const query = 'one two'

let billing: Billing

beforeAll(async () => {
  billing = await startBilling()
  const { gateway, upstream } = billing.rig
  await gateway.admin('POST', '/connections', {
    name: 'cohere',
    provider: 'cohere',
    api_key: upstreamSecret,
    endpoint_url: upstream.url.replace(/\/v1$/, ''),
  })
  await gateway.admin('POST', '/models', { id: cohere, name: cohere, ...byUnit })
})
afterAll(() => billing[Symbol.asyncDispose]())

const rank = (customer: Customer, model: string, fields: Json) =>
  sendRequest(billing.rig.gateway, {
    path,
    key: customer.key,
    body: { model, query, ...fields },
  })

const words = (count: number) => 'word '.repeat(count).trim()

describe('search units cost their price, as the provider counts them, and once', () => {
  test.each([
    ['one document', [words(3)], {}, 1n],
    ['a hundred', Array(100).fill('word'), {}, 1n],
    ['a hundred and one', Array(101).fill('word'), {}, 2n],
    ['sixty that are each divided in two', Array(60).fill(words(600)), {}, 2n],
    ['sixty that are cut', Array(60).fill(words(600)), { max_tokens_per_doc: 400 }, 1n],
  ])('%s', async (...[, documents, fields, units]) => {
    const customer = await billing.customer(credit)
    const answer = await rank(customer, cohere, { documents, ...fields })
    expect(answer.status).toBe(200)
    expect(answer.body['meta']).toMatchObject({ billed_units: { search_units: Number(units) } })
    expect(reportedCost(answer)).toBe(units * unit)
    const booked = await findBookedOnce(billing.sql, answer)
    expect(booked).toMatchObject({ cost: units * unit, estimated: false, inputTokens: 0 })
    expect((await accountOf(billing.sql, customer)).posted).toBe(credit - units * unit)
  })
})

test('tokens cost their price, the query with each document', async () => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model('ok', byToken)
  const answer = await rank(customer, model, { documents: ['three words here', 'one'] })
  expect(answer.body['usage']).toEqual({ prompt_tokens: 8, total_tokens: 8 })
  const booked = await findBookedOnce(billing.sql, answer)
  expect(booked).toMatchObject({ cost: 8000n, inputTokens: 8, estimated: false })
})

test.each([
  ['tokens', byToken],
  ['search units', byUnit],
])('a provider that does not count %s is paid by an estimate', async (_what, fields) => {
  const name = fields === byToken ? 'rank-uncounted' : 'rank-uncounted-2'
  const model = await billing.rig.model(name, { ...fields, upstream_model: 'rank-uncounted' })
  const customer = await billing.customer(credit)
  const answer = await rank(customer, model, { documents: ['three words here', 'one'] })
  const booked = await findBookedOnce(billing.sql, answer)
  expect(booked.estimated).toBe(true)
  const expected = fields === byToken ? BigInt(booked.inputTokens) * 1000n : unit
  expect(booked.cost).toBe(expected)
  expect(booked.inputTokens).toBeWithin(4, 40)
})

test('the maximum cost of a request is held: a balance that does not cover it is rejected', async () => {
  const before = billing.rig.upstream.requests().length
  const poor = await billing.customer(unit)
  // By their bytes they could be two units.
  const { status, error } = await rank(poor, cohere, { documents: Array(60).fill(words(120)) })
  expect([status, error.code]).toEqual([402, 'insufficient_credits'])
  expect(billing.rig.upstream.requests()).toHaveLength(before)
  const answer = await rank(poor, cohere, { documents: ['word'] })
  expect([answer.status, reportedCost(answer)]).toEqual([200, unit])
})

test.each([
  ['a failure', 'status-500', 502],
  ['a ranking without all results', 'rank-fewer', 502],
])('%s of the provider costs nothing', async (_what, name, status) => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model(name, byToken)
  const answer = await rank(customer, model, { documents: ['a', 'b'] })
  expect(answer.status).toBe(status)
  expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost: 0n })
  expect((await accountOf(billing.sql, customer)).posted).toBe(credit)
})

testSingleCharge(() => billing, { path, model: byToken, body: { query, documents: ['a b'] } })

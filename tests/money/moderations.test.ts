import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  findBookedOnce,
  reportedCost,
  startBilling,
  accountOf,
  type Billing,
} from '../harness/ledger'
import { sendRequest } from '../harness/http'
import type { Customer } from '../harness/server'
import { testSingleCharge } from './single-charge'

const path = '/v1/moderations'
const moderation = { category: 'moderation', pricing: { input: 1, output: 0 } }
const credit = 1_000_000_000n

let billing: Billing

beforeAll(async () => {
  billing = await startBilling()
})
afterAll(() => billing[Symbol.asyncDispose]())

async function moderate(customer: Customer, name: string, fields: Record<string, unknown> = {}) {
  const model = await billing.rig.model(name, moderation)
  const body = { model, input: 'one two three', ...fields }
  return sendRequest(billing.rig.gateway, { path, key: customer.key, body })
}

test('counted tokens cost their price, exactly and once', async () => {
  const customer = await billing.customer(credit)
  const answer = await moderate(customer, 'moderate-counted')
  expect(answer.status).toBe(200)
  expect(answer.body['usage']).toEqual({ prompt_tokens: 3, total_tokens: 3 })
  expect(reportedCost(answer)).toBe(3000n)
  const booked = await findBookedOnce(billing.sql, answer)
  expect(booked).toMatchObject({ cost: 3000n, inputTokens: 3, outputTokens: 0, estimated: false })
  expect((await accountOf(billing.sql, customer)).posted).toBe(credit - 3000n)
})

test('without counts the estimate is shown and charged', async () => {
  const answer = await moderate(await billing.customer(credit), 'ok', { input: ['one', 'two'] })
  const booked = await findBookedOnce(billing.sql, answer)
  expect(booked).toMatchObject({ cost: BigInt(booked.inputTokens) * 1000n, estimated: true })
  expect(booked.inputTokens).toBeWithin(1, 20)
  expect(answer.body['usage']).toMatchObject({ prompt_tokens: booked.inputTokens })
})

test('a free model costs nothing, without credit too, and is booked as a request', async () => {
  const customer = await billing.customer(0n)
  const model = await billing.rig.model('moderate-counted-9', { ...moderation, is_free: true })
  const body = { model, input: 'one two three', usage: { include: true } }
  const { gateway } = billing.rig
  const answer = await sendRequest(gateway, { path, key: customer.key, body })
  expect(answer.body['usage']).toMatchObject({ prompt_tokens: 3, cost: 0 })
  expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost: 0n, inputTokens: 3 })
})

test('without credit a priced model is rejected before its provider is called', async () => {
  const customer = await billing.customer(0n)
  const before = billing.rig.upstream.requests().length
  const { status, error } = await moderate(customer, 'moderate-counted')
  expect([status, error.code]).toEqual([402, 'insufficient_credits'])
  expect(billing.rig.upstream.requests()).toHaveLength(before)
})

test.each([
  ['a refusal', 'status-400', 400],
  ['a failure', 'status-500', 502],
  ['an answer without all results', 'moderate-first', 502],
])('%s of the provider costs nothing', async (_what, name, status) => {
  const customer = await billing.customer(credit)
  const answer = await moderate(customer, name, { input: ['one', 'two'] })
  expect(answer.status).toBe(status)
  expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost: 0n })
  expect((await accountOf(billing.sql, customer)).posted).toBe(credit)
})

testSingleCharge(() => billing, { path, model: moderation, body: { input: 'one two three' } })

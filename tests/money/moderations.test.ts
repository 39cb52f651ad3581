import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  findBookedOnce,
  reportedCost,
  startBilling,
  accountOf,
  type Billing,
} from '../harness/ledger'
import { sendRaw, sendRequest } from '../harness/http'
import { sendIdempotent } from '../gateway/idempotency/keyed'
import { eventually } from '../../server/testing/eventually'
import type { Customer } from '../harness/server'

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

test('a client that disconnects pays for its request once, and never more than was held', async () => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model('held-first', moderation)
  const { gateway, upstream } = billing.rig
  const before = upstream.requests().length
  const client = await sendRaw(gateway, { path, key: customer.key, body: { model, input: 'a b' } })
  await eventually(() => upstream.requests().length > before)
  client.close()
  await eventually(async () => (await accountOf(billing.sql, customer)).posted < credit)
  const paid = credit - (await accountOf(billing.sql, customer)).posted
  expect(Number(paid)).toBeWithin(1, 200_000)
})

test('a repeat with the same Idempotency-Key is answered from the first, free of charge', async () => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model('moderate-counted', moderation)
  const { gateway } = billing.rig
  const sent = { customer, key: 'one-moderation', path, body: { model, input: 'one two three' } }
  const first = await sendIdempotent(gateway, sent)
  const again = await sendIdempotent(gateway, sent)
  expect([first.status, again.text]).toEqual([200, first.text])
  expect(again.headers.get('x-idempotent-replay')).toBe('true')
  await eventually(async () => (await accountOf(billing.sql, customer)).posted === credit - 3000n)
})

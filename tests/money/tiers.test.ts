import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectSoundLedger } from '../harness/ledger-oracle'
import {
  waitUntilBooked,
  findBookedOnce,
  reportedCost,
  startBilling,
  type Billing,
} from '../harness/ledger'
import { sendRequest, type Json } from '../harness/http'
import { readLog } from '../harness/request-log'
import type { Customer } from '../harness/server'

/** USD per million tokens: what is read, written, read in long prompts, and ahead in the queue. */
const pricing = {
  input: 1,
  output: 4,
  tiers: [
    { above: 3000, input: 10, output: 40 },
    { service_tier: 'priority', input: 2, output: 8 },
  ],
}

let billing: Billing
let model: string
let customer: Customer

beforeAll(async () => {
  billing = await startBilling()
  model = await billing.rig.model('ok')
  await billing.rig.gateway.admin('PUT', `/models/${model}/prices`, { pricing })
  customer = await billing.customer(1_000_000_000n)
})
afterAll(async () => {
  const attempts = billing.rig.upstream.requests().length
  await waitUntilBooked(billing.sql, attempts)
  billing.rig.gateway.recorder.verify()
  await expectSoundLedger(billing.sql, { attempts })
  await billing[Symbol.asyncDispose]()
})

const chat = ({ key }: Customer, content: string, fields: Json = {}) =>
  sendRequest(billing.rig.gateway, {
    key,
    body: { model, messages: [{ role: 'user', content }], max_tokens: 20, ...fields },
  })

const long = 'Hello there. '.repeat(2000)

interface Charged {
  text: string
  fields?: Json
  /** Nano-dollars a token, read and written. */
  rates: readonly [bigint, bigint]
  tier: string | null
}

test.each<[string, Charged]>([
  ['a short prompt', { text: 'Hello', rates: [1000n, 4000n], tier: null }],
  ['a long prompt', { text: long, rates: [10_000n, 40_000n], tier: 'above 3000 tokens' }],
  [
    'a place ahead',
    {
      text: 'Hello',
      fields: { service_tier: 'priority' },
      rates: [2000n, 8000n],
      tier: 'priority',
    },
  ],
  [
    'a tier without a price',
    { text: 'Hello', fields: { service_tier: 'scale' }, rates: [1000n, 4000n], tier: null },
  ],
  [
    'a cheap tier',
    { text: 'Hello', fields: { service_tier: 'flex' }, rates: [1000n, 4000n], tier: null },
  ],
])('finding P1: %s is charged by its tier, and the log names it', async (_what, charged) => {
  const { text, fields, tier } = charged
  const [input, output] = charged.rates
  const answer = await chat(customer, text, fields)
  expect(answer.status).toBe(200)
  const booked = await findBookedOnce(billing.sql, answer)
  const due = BigInt(booked.inputTokens) * input + BigInt(booked.outputTokens) * output
  expect([booked.cost, reportedCost(answer)]).toEqual([due, due])
  const { headers } = answer
  const log = await readLog(billing.rig.gateway, customer, { headers, part: '/details' })
  const usd = { input: Number(input) / 1000, output: Number(output) / 1000 }
  expect(log).toMatchObject({ pricing: { tier, ...usd } })
})

test('finding P1: a balance that pays the short prompt’s price is enough for a short prompt', async () => {
  // 20 tokens of output and what 5 letters can be at most, at the usual price; not at the dear one.
  const poor = await billing.customer(2_000_000n)
  expect((await chat(poor, 'Hello')).status).toBe(200)
  const refused = await chat(poor, long)
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
})

test('a price with tiers is answered as it was sent, in the catalogue and in its history', async () => {
  const { prices } = await billing.rig.gateway.admin('GET', `/models/${model}/prices`)
  const shown = {
    input: 1,
    output: 4,
    tiers: [{ above: 3000, input: 10 }, { service_tier: 'priority' }],
  }
  expect(prices).toMatchObject([{ pricing: shown }, {}])
  const { body } = await sendRequest(billing.rig.gateway, {
    path: `/api/models/${model}`,
    method: 'GET',
    key: customer.key,
  })
  expect(body).toMatchObject({ pricing: shown })
})

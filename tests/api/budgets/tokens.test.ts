import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from '../../harness/byok'
import type { Answer, Json } from '../../harness/http'
import { startBilling, type Billing } from '../../harness/ledger'
import type { Customer } from '../../harness/server'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

let billing: Billing

beforeAll(async () => {
  await untilDayLasts()
  billing = await startBilling()
}, 30_000 + dayWaitMs)
afterAll(async () => {
  billing.rig.gateway.recorder.verify()
  await billing[Symbol.asyncDispose]()
})

const newOwner = () => billing.rig.gateway.customer({ permissions: ['read', 'write', 'admin'] })

const api = (by: Pick<Customer, 'key'>, request: string, body?: Json) =>
  call(billing.rig.gateway, by, request, body)

async function newBudget(by: Customer, fields: Json): Promise<string> {
  const budget = { name: 'Tokens', unit: 'tokens', window: 'day', ...fields }
  const { status, text, body } = await api(by, 'POST /account/budgets', budget)
  if (status !== 201) throw new Error(text)
  return String(body['id'])
}

const chat = (customer: Customer, fields: Json = {}, name = 'chunks-256') =>
  billing.chat(customer, name, { max_tokens: 256, ...fields })

const totalOf = ({ body }: Answer): number => Object(body['usage'])['total_tokens']

const leftOf = ({ error }: Answer): number => Object(error.details?.['budget'])['remaining']

/** Finds the tokens with which a request runs, which the refusal by a budget of none states. */
async function findRequired(fields: Json = {}, name?: string): Promise<number> {
  const owner = await newOwner()
  await newBudget(owner, { amount: 0 })
  const { error } = await chat(owner, fields, name)
  return Number(/this request requires (\d+)\./.exec(error.message ?? '')?.[1])
}

test('counts prompts and answers exactly, and refuses with its name, its remainder and the time of its reset', async () => {
  const owner = await newOwner()
  const amount = 3000
  const id = await newBudget(owner, { amount })
  const required = await findRequired()
  let used = 0
  let answer = await chat(owner)
  for (; answer.status === 200; answer = await chat(owner)) used += totalOf(answer)
  expect(amount - used).toBeLessThan(required)
  expect(used).toBeLessThanOrEqual(amount)
  expect([answer.status, answer.error.code]).toEqual([429, 'rate_limit_exceeded'])
  expect(answer.error.message).toStartWith(
    `The budget "Tokens" allows ${amount} tokens a day. ${amount - used} tokens remain until `,
  )
  expect(answer.error.details).toMatchObject({
    limit: amount,
    window: 86_400,
    budget: { id, unit: 'tokens', amount, remaining: amount - used, window: 'day' },
  })
  const seconds = Number(answer.headers.get('retry-after'))
  expect(answer.error.details?.['retry_after']).toBe(seconds)
  expect(answer.headers.get('x-should-retry')).toBe('false')
  const shown = await eventuallyReads(
    async () => (await api(owner, `GET /account/budgets/${id}`)).body,
    (budget) => budget['used'] === used,
  )
  expect(shown).toMatchObject({ unit: 'tokens', amount, remaining: amount - used })
})

test('a rest that covers a part of the answer lowers its output limit', async () => {
  const required = await findRequired({ max_tokens: 1000 })
  const owner = await newOwner()
  await newBudget(owner, { amount: required + 100 })
  const answer = await chat(owner, { max_tokens: 1000 })
  expect(answer.status).toBe(200)
  expect(Object(billing.rig.upstream.requests().at(-1)?.body)['max_tokens']).toBe(356)
})

test('holds of running requests count: many at once never use more', async () => {
  const required = await findRequired({ stream: true }, 'held-256')
  const owner = await newOwner()
  const id = await newBudget(owner, { amount: 3 * required + 1 })
  const refused: number[] = []
  const requests = Array.from({ length: 12 }, async () => {
    const { status } = await chat(owner, { stream: true }, 'held-256')
    if (status !== 200) refused.push(status)
  })
  await eventually(() => refused.length === 9)
  expect(new Set(refused)).toEqual(new Set([429]))
  await billing.rig.upstream.releaseHeld(3)
  await Promise.all(requests)
  const { used } = await eventuallyReads(
    async () => (await api(owner, `GET /account/budgets/${id}`)).body,
    (budget) => Number(budget['used']) > 0,
  )
  expect(Number(used)).toBeLessThanOrEqual(3 * required + 1)
})

test('a request that Tollgate or the provider rejects gives back its tokens', async () => {
  const required = await findRequired()
  const owner = await newOwner()
  await newBudget(owner, { amount: required })
  expect((await chat(owner, {}, 'status-400')).status).toBeGreaterThanOrEqual(400)
  expect((await chat(owner, { messages: 5 })).status).toBe(400)
  expect((await chat(owner)).status).toBe(200)
  const refused = await chat(owner)
  expect([refused.status, leftOf(refused) < required]).toEqual([429, true])
})

test('models without a price count, and a long prompt is held by its count where its bytes would be too many', async () => {
  const owner = await newOwner()
  await newBudget(owner, { amount: 4000 })
  const content = 'It is a text of some thousand words, with far fewer tokens than bytes. '.repeat(
    60,
  )
  const answer = await chat(owner, { messages: [{ role: 'user', content }] }, 'ok')
  expect(answer.status).toBe(200)
  const free = { model: 'sandbox/echo', messages: [{ role: 'user', content }], max_tokens: 256 }
  const statuses: number[] = []
  for (let count = 0; count < 5; count++) statuses.push((await chat(owner, free)).status)
  expect(statuses.at(-1)).toBe(429)
})

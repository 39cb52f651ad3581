import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, problem } from '../../harness/byok'
import { startBilling, type Billing } from '../../harness/ledger'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'
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

const api = (by: Customer, request: string, body?: Json) =>
  call(billing.rig.gateway, by, request, body)

async function newBudget(by: Customer, fields: Json): Promise<string> {
  const budget = { name: 'Daily', window: 'day', unit: 'requests', ...fields }
  const { body } = await api(by, 'POST /account/budgets', budget)
  return String(body['id'])
}

const chat = (customer: Customer) => billing.chat(customer, 'ok', { max_tokens: 16 })
const laterMs = 3_600_000
const inAnHour = () => new Date(Date.now() + laterMs).toISOString()

test('a higher amount admits more until it ends, and null ends it at once', async () => {
  const owner = await newOwner()
  const id = await newBudget(owner, { amount: 1 })
  const path = `/account/budgets/${id}`
  await chat(owner)
  // The owner's key has a budget of its account, none of its own.
  await eventually(async () => (await chat(owner)).status === 429)
  const until = inAnHour()
  const raised = await api(owner, `PATCH ${path}`, { override: { amount: 3, until } })
  expect(raised.body).toMatchObject({
    amount: 1,
    amount_in_force: 3,
    override: { amount: 3, until, created_by: owner.userId },
  })
  await eventually(async () => (await chat(owner)).status === 200)
  expect((await chat(owner)).status).toBe(200)
  const refused = await chat(owner)
  expect(refused.status).toBe(429)
  expect(refused.error.details).toMatchObject({ limit: 3, budget: { id, amount: 3 } })
  const ended = await api(owner, `PATCH ${path}`, { override: null })
  expect(ended.body).toMatchObject({ amount: 1, amount_in_force: 1, override: null })
  await eventually(async () => {
    const { details } = (await chat(owner)).error
    return details?.['limit'] === 1
  })
})

test('a lower amount refuses at once, until the time at which it ends', async () => {
  const owner = await newOwner()
  const id = await newBudget(owner, { amount: 100, unit: 'usd', window: 'total' })
  expect((await chat(owner)).status).toBe(200)
  const until = inAnHour()
  await api(owner, `PATCH /account/budgets/${id}`, { override: { amount: 0, until } })
  await eventually(async () => (await chat(owner)).status === 402)
  const refused = await chat(owner)
  const retryAfter = Number(refused.headers.get('retry-after'))
  expect(retryAfter).toBeGreaterThan(0)
  expect(retryAfter).toBeLessThanOrEqual(laterMs / 1000)
  expect(refused.error.message).toContain(`until ${until}`)
  expect(refused.error.details?.['budget']).toMatchObject({ id, amount: 0, window_end: null })
})

test('an override that begins later changes nothing before', async () => {
  const owner = await newOwner()
  const id = await newBudget(owner, { amount: 100 })
  const override = { amount: 0, from: inAnHour(), until: '2099-01-01T00:00:00.000Z' }
  const { body } = await api(owner, `PATCH /account/budgets/${id}`, { override })
  expect(body).toMatchObject({ amount_in_force: 100, remaining: 100, override })
  expect((await chat(owner)).status).toBe(200)
})

test.each<[Json, string]>([
  [{ amount: 1, until: '2020-01-01T00:00:00Z' }, 'override.until'],
  [{ amount: 1, until: '2100-01-01T00:00:00Z' }, 'override.until'],
  [{ amount: 1, from: '2099-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' }, 'override.until'],
  [{ amount: 1.5, until: '2099-01-01T00:00:00Z' }, 'override.amount'],
])('the override %j is rejected', async (override, param) => {
  const owner = await newOwner()
  const id = await newBudget(owner, { amount: 100 })
  const answer = await api(owner, `PATCH /account/budgets/${id}`, { override })
  expect(problem(answer)).toEqual([400, param, 'out_of_range'])
})

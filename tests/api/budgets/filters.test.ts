import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call, problem } from '../../harness/byok'
import { messages, sendRequest, type Answer, type Json } from '../../harness/http'
import { nanosOf, reportedCost, startBilling, type Billing } from '../../harness/ledger'
import type { Customer } from '../../harness/server'
import { eventuallyReads } from '../../../server/testing/eventually'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

let billing: Billing

beforeAll(async () => {
  await untilDayLasts()
  billing = await startBilling()
  for (const name of ['ok', 'chunks-256', 'status-503', 'status-400']) await billing.rig.model(name)
}, 30_000 + dayWaitMs)
afterAll(async () => {
  billing.rig.gateway.recorder.verify()
  await billing[Symbol.asyncDispose]()
})

const newOwner = (key: Json = {}) =>
  billing.rig.gateway.customer({ permissions: ['read', 'write', 'admin'], ...key })

const api = (by: Pick<Customer, 'key'>, request: string, body?: Json) =>
  call(billing.rig.gateway, by, request, body)

const one = { name: 'One', unit: 'requests', amount: 1, window: 'day' }

async function newBudget(by: Customer, fields: Json): Promise<Json> {
  const { status, text, body } = await api(by, 'POST /account/budgets', { ...one, ...fields })
  if (status !== 201) throw new Error(text)
  return body
}

interface Sent {
  model?: string
  tags?: string
  [field: string]: unknown
}

const send = ({ key }: Customer, { model = 'fake/ok', tags, ...fields }: Sent = {}) =>
  sendRequest(billing.rig.gateway, {
    key,
    ...(tags !== undefined && { headers: { 'x-tollgate-tags': tags } }),
    body: { model, messages, max_tokens: 256, ...fields },
  })

const statusOf = async (by: Customer, sent?: Sent) => (await send(by, sent)).status

const untilUsed = (by: Customer, { id }: Json, used: number) =>
  eventuallyReads(
    async () => (await api(by, `GET /account/budgets/${String(id)}`)).body,
    (budget) => budget['used'] === used,
  )

const nameOf = ({ error }: Answer) => Object(error.details?.['budget'])['name']

describe('a budget with models', () => {
  test('counts the model that is called, by each name that leads to it, and no other', async () => {
    const owner = await newOwner()
    const mapping = { source_pattern: 'mine', target_model: 'fake/ok' }
    await api(owner, 'POST /user/model-mappings', mapping)
    const budget = await newBudget(owner, { models: ['fake/ok', 'absent/*'] })
    expect(budget).toMatchObject({ models: ['fake/ok', 'absent/*'], providers: null, tags: null })
    expect(await statusOf(owner, { model: 'fake/chunks-256' })).toBe(200)
    expect(await statusOf(owner)).toBe(200)
    for (const model of ['fake/ok', 'mine', 'fake/ok-latest']) {
      const refused = await send(owner, { model })
      expect([model, refused.status, nameOf(refused)]).toEqual([model, 429, 'One'])
    }
    expect(await statusOf(owner, { model: 'fake/chunks-256' })).toBe(200)
    expect(await untilUsed(owner, budget, 1)).toMatchObject({ remaining: 0 })
  })

  test('leaves the fallback when it is spent, and is checked where its model is the fallback', async () => {
    const owner = await newOwner()
    await newBudget(owner, { models: ['fake/ok'] })
    expect(await statusOf(owner)).toBe(200)
    const other = await send(owner, { models: ['fake/chunks-256'] })
    expect([other.status, other.body['model']]).toEqual([200, 'fake/chunks-256'])
    const failing = { model: 'fake/status-503', models: ['fake/ok'] }
    expect(await statusOf(owner, failing)).toBeGreaterThanOrEqual(500)
    const unlimited = await newOwner()
    expect((await send(unlimited, failing)).body['model']).toBe('fake/ok')
  })

  test('in USD counts earlier charges of its models, and no request that a provider rejects', async () => {
    const owner = await newOwner()
    const both = [0, 1].map(() => send(owner, { model: 'fake/chunks-256' }))
    const spent = (await Promise.all(both)).map(reportedCost).reduce((a, b) => a + b)
    await send(owner)
    const fields = { unit: 'usd', amount: 0.01, models: ['fake/chunks-256', 'fake/status-400'] }
    const budget = await newBudget(owner, fields)
    const status = await eventuallyReads(
      async () => (await api(owner, `GET /account/budgets/${String(budget['id'])}`)).body,
      ({ used }) => nanosOf(used) === spent,
    )
    expect(nanosOf(status['remaining'])).toBe(nanosOf(0.01) - spent)
    await statusOf(owner, { model: 'fake/status-400' })
    const refused = await send(owner, { model: 'fake/chunks-256', max_tokens: 1000, n: 8 })
    expect([refused.status, nameOf(refused)]).toEqual([402, 'One'])
    expect(nanosOf(refused.error.details?.['current_balance'])).toBe(nanosOf(0.01) - spent)
  })
})

test('a budget with providers counts their models alone', async () => {
  const owner = await newOwner()
  await newBudget(owner, { providers: ['fake'] })
  expect([await statusOf(owner), await statusOf(owner)]).toEqual([200, 429])
  expect(await statusOf(owner, { model: 'sandbox/echo' })).toBe(200)
})

describe('a budget with tags', () => {
  test('counts requests that have all of them, those of their key included', async () => {
    const owner = await newOwner({ tags: ['team:search'] })
    const budget = await newBudget(owner, { tags: ['team:search', 'batch'] })
    expect([await statusOf(owner), await statusOf(owner, { tags: 'live' })]).toEqual([200, 200])
    expect(await statusOf(owner, { tags: 'live, batch' })).toBe(200)
    expect(await statusOf(owner, { tags: 'batch' })).toBe(429)
    expect(await statusOf(owner, { metadata: { tags: 'batch' } })).toBe(429)
    expect(await statusOf(owner)).toBe(200)
    await untilUsed(owner, budget, 1)
  })

  test('of soft enforcement has exactly the tokens of its requests', async () => {
    const owner = await newOwner()
    const fields = { unit: 'tokens', amount: 1, enforcement: 'soft', tags: ['batch'] }
    const budget = await newBudget(owner, fields)
    const answers = [
      await send(owner, { tags: 'batch', model: 'fake/chunks-256' }),
      await send(owner, { tags: 'other' }),
      await send(owner, { tags: 'other,batch' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const [first = 0, , last = 0] = answers.map(({ body }) => Object(body['usage'])['total_tokens'])
    await untilUsed(owner, budget, first + last)
  })
})

test.each<[Json, string, string]>([
  [{ models: ['*'] }, 'models.0', 'bad_format'],
  [{ models: [] }, 'models', 'empty'],
  [{ models: Array.from({ length: 21 }, (_, at) => `fake/${at}`) }, 'models', 'too_many'],
  [{ providers: ['Open AI'] }, 'providers.0', 'bad_format'],
  [{ tags: ['a;b'] }, 'tags.0', 'bad_format'],
  [{ tags: [] }, 'tags', 'empty'],
  [{ unit: 'tokens', amount: 1.5 }, 'amount', 'out_of_range'],
  [{ unit: 'tokens', window: 'total' }, 'window', 'conflict'],
  [{ amount: 3_000_000_000 }, 'amount', 'out_of_range'],
])('%j is rejected', async (fields, param, issue) => {
  const answer = await api(await newOwner(), 'POST /account/budgets', { ...one, ...fields })
  expect(problem(answer)).toEqual([400, param, issue])
})

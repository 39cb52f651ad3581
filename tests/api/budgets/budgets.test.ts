import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call, idIn, problem } from '../../harness/byok'
import { messages, request, type Answer, type Json } from '../../harness/http'
import { nanosOf, reportedCost, startBilling, type Billing } from '../../harness/ledger'
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

const weekly = { name: 'Weekly', amount: 0.01, window: 'week' }

async function newBudget(by: Customer, fields: Json = {}): Promise<Json> {
  const { status, text, body } = await api(by, 'POST /account/budgets', { ...weekly, ...fields })
  if (status !== 201) throw new Error(text)
  return body
}

/** A key without limits of its own: one with a budget changes none. */
async function secondKey(by: Customer): Promise<Customer> {
  const { body } = await api(by, 'POST /account/keys', { name: 'Limited' })
  return { ...by, key: String(body['key']), keyId: String(body['id']) }
}

const chat = (customer: Customer, fields: Json = {}, name = 'ok') =>
  billing.chat(customer, name, { max_tokens: 256, ...fields })

/** A request whose smallest hold is above the rest of the budget, once some of it is spent. */
const large = { max_tokens: 1000, n: 8 }
const spendSome = async (customer: Customer) =>
  reportedCost(await chat(customer, { max_tokens: 1000 }, 'chunks-1000'))

/** Sends requests until one is refused. Returns that, and what the others cost. */
async function spendAll(customer: Customer): Promise<{ refused: Answer; spent: bigint }> {
  let spent = 0n
  for (let count = 0; count < 100; count++) {
    const answer = await chat(customer, {}, 'chunks-256')
    if (answer.status !== 200) return { refused: answer, spent }
    spent += reportedCost(answer)
  }
  throw new Error('no request was refused')
}

const readBudget = async (by: Customer, id: unknown) =>
  (await api(by, `GET /account/budgets/${String(id)}`)).body

describe('the API', () => {
  test('creates, lists, changes and deletes budgets, with their windows', async () => {
    const owner = await newOwner()
    const created = await newBudget(owner, { time_zone: 'europe/berlin', first_weekday: 'sunday' })
    const id = String(created['id'])
    expect(created).toMatchObject({
      name: 'Weekly',
      key_id: null,
      unit: 'usd',
      amount: 0.01,
      window: 'week',
      time_zone: 'Europe/Berlin',
      first_weekday: 'sunday',
      enforcement: 'hard',
      notify_percents: [],
      notified_percent: null,
      used: 0,
      remaining: 0.01,
    })
    const start = new Date(String(created['window_start']))
    const berlin = { timeZone: 'Europe/Berlin', weekday: 'long', hour: 'numeric' } as const
    expect(start.toLocaleString('en-GB', berlin)).toBe('Sunday, 00')
    expect(start.getTime()).toBeLessThanOrEqual(Date.now())
    expect(new Date(String(created['window_end'])).getTime()).toBeGreaterThan(Date.now())
    const total = await newBudget(owner, { key_id: owner.keyId, window: 'total', amount: 5 })
    expect(total).toMatchObject({ key_id: owner.keyId, window_start: null, window_end: null })
    // The owner's key has a limit of its own now.
    const refused = await api(owner, `PATCH /account/budgets/${id}`, { amount: 7 })
    expect(problem(refused)).toEqual([400, null, 'not_allowed'])
    const list = await api(owner, 'GET /account/budgets')
    expect(list.body['budgets']).toMatchObject([{ id: total['id'] }, { id }])
  })

  test('changes single fields, and deletes', async () => {
    const owner = await newOwner()
    const id = String((await newBudget(owner))['id'])
    const changed = await api(owner, `PATCH /account/budgets/${id}`, { amount: 7, window: 'day' })
    expect(changed.body).toMatchObject({ id, name: 'Weekly', amount: 7, window: 'day' })
    const soft = { enforcement: 'soft', notify_percents: [150, 80, 80] }
    const softened = await api(owner, `PATCH /account/budgets/${id}`, soft)
    expect(softened.body).toMatchObject({ enforcement: 'soft', notify_percents: [80, 150] })
    const hardened = await api(owner, `PATCH /account/budgets/${id}`, { enforcement: 'hard' })
    expect(problem(hardened)).toEqual([400, 'notify_percents', 'out_of_range'])
    expect((await api(owner, `DELETE /account/budgets/${id}`)).status).toBe(200)
    expect((await api(owner, `GET /account/budgets/${id}`)).status).toBe(404)
  })

  test.each<[Json, string, string]>([
    [{ time_zone: 'Mars/Olympus' }, 'time_zone', 'unknown_value'],
    [{ time_zone: '+05:30' }, 'time_zone', 'unknown_value'],
    [{ window: 'decade' }, 'window', 'unknown_value'],
    [{ amount: 0.001 }, 'amount', 'out_of_range'],
    [{ amount: -1 }, 'amount', 'out_of_range'],
    [{ unit: 'requests', amount: 1.5 }, 'amount', 'out_of_range'],
    [{ unit: 'requests', amount: 1, window: 'total' }, 'window', 'conflict'],
    [{ enforcement: 'gentle' }, 'enforcement', 'unknown_value'],
    [{ notify_percents: [101] }, 'notify_percents', 'out_of_range'],
    [{ notify_percents: [80, 0] }, 'notify_percents.1', 'out_of_range'],
    [{ notify_percents: [80.5] }, 'notify_percents.0', 'wrong_type'],
    [{ enforcement: 'soft', notify_percents: [1001] }, 'notify_percents.0', 'out_of_range'],
    [{ notify_percents: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, 'notify_percents', 'too_many'],
    [{ key_id: 'key_01k9z3t6c8q4v7x2m5n0p1r3s4' }, 'key_id', 'unknown_value'],
  ])('%j is rejected', async (fields, param, issue) => {
    const owner = await newOwner()
    const answer = await api(owner, 'POST /account/budgets', { ...weekly, ...fields })
    expect(problem(answer)).toEqual([400, param, issue])
  })

  test('an account has at most 100 budgets', async () => {
    const owner = await newOwner()
    for (let count = 0; count < 100; count++) await newBudget(owner)
    const tooMany = await api(owner, 'POST /account/budgets', weekly)
    expect(problem(tooMany)).toEqual([400, null, 'limit_reached'])
  })
})

describe('a budget in USD', () => {
  test('of a key rejects requests when it is spent, with its name, its remainder and the time of its reset', async () => {
    const owner = await newOwner()
    const limited = await secondKey(owner)
    const created = await newBudget(owner, { key_id: limited.keyId })
    const { refused, spent } = await spendAll(limited)
    const floor = await billing.floorOf('chunks-256', { max_tokens: 256 })
    const left = Number(nanosOf(0.01) - spent) / 1e9
    expect(nanosOf(left)).toBeGreaterThanOrEqual(0n)
    expect(nanosOf(left)).toBeLessThan(floor)
    expect(refused.status).toBe(402)
    expect(refused.error).toMatchObject({
      type: 'billing_error',
      code: 'insufficient_credits',
      message: expect.stringContaining('The budget "Weekly" allows 0.01 USD a week.'),
      details: {
        current_balance: left,
        minimum_required: Number(floor) / 1e9,
        budget: {
          id: created['id'],
          name: 'Weekly',
          unit: 'usd',
          amount: 0.01,
          remaining: left,
          window: 'week',
          window_end: created['window_end'],
        },
      },
    })
    const retryAfter = Number(refused.headers.get('retry-after'))
    expect(refused.error.details?.['retry_after']).toBe(retryAfter)
    expect(retryAfter).toBeGreaterThan(0)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    // Another key of the account has no limit.
    expect((await chat(owner)).status).toBe(200)
    const status = await eventuallyReads(
      () => readBudget(owner, created['id']),
      ({ used }) => nanosOf(used) === spent,
    )
    expect(status['remaining']).toBe(left)
  })

  test('of the account counts all keys, and a higher amount or its end applies within a second', async () => {
    const owner = await newOwner()
    const { id } = await newBudget(owner)
    const second = await secondKey(owner)
    await spendAll(owner)
    expect((await chat(second)).status).toBe(402)
    await api(owner, `PATCH /account/budgets/${String(id)}`, { amount: 1 })
    await eventually(async () => (await chat(second)).status === 200)
    await api(owner, `PATCH /account/budgets/${String(id)}`, { amount: 0 })
    await eventually(async () => (await chat(owner)).status === 402)
    await api(owner, `DELETE /account/budgets/${String(id)}`)
    await eventually(async () => (await chat(owner)).status === 200)
  })

  test('the tightest of several decides, and earlier spending counts', async () => {
    const owner = await newOwner()
    await newBudget(owner, { window: 'total' })
    await newBudget(owner, { window: 'year', amount: 50 })
    const { refused, spent } = await spendAll(owner)
    expect(refused.error.details?.['budget']).toMatchObject({ window: 'total', window_end: null })
    expect(refused.headers.get('retry-after')).toBeNull()
    // A new budget of another window has used the same.
    const hourly = await newBudget(owner, { window: 'day', amount: 9 })
    const { used } = await eventuallyReads(
      () => readBudget(owner, hourly['id']),
      (budget) => nanosOf(budget['used']) === spent,
    )
    expect(nanosOf(used)).toBe(spent)
  })

  test('holds of running requests count: many at once never spend more', async () => {
    const owner = await newOwner()
    const { id } = await newBudget(owner)
    const name = 'held-256'
    const floor = await billing.floorOf(name, { max_tokens: 256, stream: true })
    const fitting = Number(nanosOf(0.01) / floor)
    const refused: number[] = []
    const requests = Array.from({ length: 40 }, async () => {
      const { status } = await chat(owner, { stream: true }, name)
      if (status !== 200) refused.push(status)
    })
    await eventually(() => refused.length === 40 - fitting)
    expect(new Set(refused)).toEqual(new Set([402]))
    await billing.rig.upstream.releaseHeld(fitting)
    await Promise.all(requests)
    const status = await eventuallyReads(
      () => readBudget(owner, id),
      ({ used }) => nanosOf(used) > 0n,
    )
    expect(nanosOf(status['used'])).toBeLessThanOrEqual(nanosOf(0.01))
  })

  test('a request whose client disconnects gives back all that is not charged', async () => {
    const owner = await newOwner()
    const { id } = await newBudget(owner)
    await spendSome(owner)
    const { gateway, upstream, model } = billing.rig
    const client = new AbortController()
    const body = { model: await model('held-300'), messages, max_tokens: 300, stream: true }
    const { signal } = client
    const running = request(gateway, { key: owner.key, body, signal }).catch(() => undefined)
    await eventually(() => upstream.heldCount() === 1)
    client.abort()
    await running
    upstream.release()
    await eventually(async () => {
      const { used } = await readBudget(owner, id)
      const left = (await chat(owner, large)).error.details?.['current_balance']
      return nanosOf(left) + nanosOf(used) === nanosOf(0.01)
    })
  })

  test('a request that Tollgate or the provider rejects gives back exactly its hold', async () => {
    const owner = await newOwner()
    await newBudget(owner)
    const spent = await spendSome(owner)
    const before = (await chat(owner, large)).error.details
    expect(nanosOf(before?.['current_balance'])).toBe(nanosOf(0.01) - spent)
    for (const fields of [{ messages: 5 }, { model: 'fake/none' }])
      expect((await chat(owner, fields)).status).toBeWithin(400, 405)
    expect((await chat(owner, {}, 'status-400')).status).toBeGreaterThanOrEqual(400)
    const after = (await chat(owner, large)).error.details
    expect([after?.['current_balance'], after?.['budget']]).toEqual([
      before?.['current_balance'],
      before?.['budget'],
    ])
  })
})

test('a budget in requests rejects with the fields of a rate limit, and counts sent requests only', async () => {
  const owner = await newOwner()
  await newBudget(owner, { name: 'Daily', unit: 'requests', amount: 2, window: 'day' })
  for (const fields of [{ messages: 5 }, { model: 'fake/none' }])
    expect((await chat(owner, fields)).status).toBeWithin(400, 405)
  expect([(await chat(owner)).status, (await chat(owner)).status]).toEqual([200, 200])
  const refused = await chat(owner)
  expect(refused.status).toBe(429)
  expect(refused.error).toMatchObject({
    code: 'rate_limit_exceeded',
    message: expect.stringContaining('The budget "Daily" allows 2 requests a day.'),
    details: {
      limit: 2,
      window: 86_400,
      budget: { name: 'Daily', unit: 'requests', amount: 2, remaining: 0, window: 'day' },
    },
  })
  const seconds = Number(refused.headers.get('retry-after'))
  expect(refused.error.details?.['retry_after']).toBe(seconds)
  expect(refused.headers.get('x-should-retry')).toBe('false')
  expect(refused.headers.get('x-ratelimit-limit')).toBe('2')
})

test('the budgets of a deleted key are deleted with it', async () => {
  const owner = await newOwner()
  const limited = await secondKey(owner)
  const id = idIn(await api(owner, 'POST /account/budgets', { ...weekly, key_id: limited.keyId }))
  await api(owner, `DELETE /account/keys/${limited.keyId}`)
  expect((await api(owner, `GET /account/budgets/${id}`)).status).toBe(404)
})

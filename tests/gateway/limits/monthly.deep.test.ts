import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, parsed, type Answer } from '../../harness/http'
import {
  accountOf,
  reportedCost,
  nanosOf,
  startBilling,
  priceOf,
  type Billing,
  waitUntilBooked,
} from '../../harness/ledger'
import type { Customer } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'

let billing: Billing

beforeAll(async () => {
  await untilDayLasts()
  billing = await startBilling()
}, 30_000 + dayWaitMs)
afterAll(async () => {
  billing.rig.gateway.recorder.verify()
  await billing[Symbol.asyncDispose]()
})

let plans = 0

/** An account with limits of its own by its plan, and a key with some too. */
async function limited(limits: object, key: object = {}, user: object = {}): Promise<Customer> {
  const { gateway } = billing.rig
  plans += 1
  const plan = await gateway.admin('POST', '/plans', { name: `monthly ${plans}`, ...limits })
  return gateway.customer({ ...key }, { plan_id: plan['id'], ...user })
}

async function secondKey(customer: Customer, fields: object = {}): Promise<Customer> {
  const path = `/users/${customer.userId}/keys`
  const made = await billing.rig.gateway.admin('POST', path, { name: 'second', ...fields })
  return { ...customer, key: String(made['key']), keyId: String(made['id']) }
}

/** Two tokens in, two out, of a model whose worst case is known to the nano-dollar. */
const chat = (customer: Customer, fields: object = {}, name = 'ok') =>
  billing.chat(customer, name, { max_tokens: 256, ...fields })

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)

/** USD, with two decimals. */
const usd = (nanos: bigint) => Number(nanos) / 1e9

describe('requests a month', () => {
  test('beyond the limit are 429 until the month ends, with its length', async () => {
    const customer = await limited({ monthly_requests: 2, requests_per_minute: 50 })
    expect(statuses([await chat(customer), await chat(customer)])).toEqual([200, 200])
    const now = new Date()
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
    const [from, to] = [Date.UTC(year, month), Date.UTC(year, month + 1)]
    // Before the body is read.
    const refused = await sendRequest(billing.rig.gateway, { key: customer.key, body: 'not json' })
    expect(refused.status).toBe(429)
    expect(refused.error).toMatchObject({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      details: { limit: 2, window: (to - from) / 1000 },
    })
    const { headers } = refused
    const waitMs = Number(headers.get('retry-after-ms'))
    expect(to - waitMs).toBeWithin(now.getTime(), Date.now() + 1)
    const seconds = Math.ceil(waitMs / 1000)
    expect(headers.get('retry-after')).toBe(String(seconds))
    expect(refused.error.details?.['retry_after']).toBe(seconds)
    expect(headers.get('x-ratelimit-limit')).toBe('2')
    expect(headers.get('x-ratelimit-remaining')).toBe('0')
    expect(headers.get('x-ratelimit-reset')).toBe(String(to / 1000))
    expect(headers.get('x-should-retry')).toBe('false')
  })

  test('rejected, replayed and listing ones count nothing; free ones and streams count', async () => {
    const customer = await limited({ monthly_requests: 4 })
    const { key } = customer
    const free = await billing.rig.model('free', { is_free: true, upstream_model: 'ok' })
    for (const body of [{ messages: 5 }, { model: 'fake/none' }, { max_tokens: 1_000_000 }])
      expect((await chat(customer, body)).status).toBeWithin(400, 405)
    const list = { method: 'GET', path: '/v1/models/sandbox/echo', key }
    for (let count = 0; count < 6; count++)
      expect((await sendRequest(billing.rig.gateway, list)).status).toBe(200)
    const body = { model: free, messages }
    const headers = { 'idempotency-key': 'monthly' }
    for (let count = 0; count < 3; count++)
      expect((await sendRequest(billing.rig.gateway, { key, body, headers })).status).toBe(200)
    expect((await chat(customer, { stream: true })).status).toBe(200)
    // The provider was asked.
    expect((await chat(customer, {}, 'status-500')).status).toBe(502)
    expect((await chat(customer)).status).toBe(200)
    expect((await chat(customer)).status).toBe(429)
  })

  test('many at once: as many as are left', async () => {
    const customer = await limited({ monthly_requests: 10 })
    const answers = await Promise.all(Array.from({ length: 60 }, () => chat(customer)))
    expect(statuses(answers).filter((status) => status === 200)).toHaveLength(10)
    expect(statuses(answers).filter((status) => status === 429)).toHaveLength(50)
  })

  test('a request that the minute rejects does not count in the month, and the other way round', async () => {
    const customer = await limited({ monthly_requests: 3, requests_per_minute: 2 })
    const answers = []
    for (let count = 0; count < 5; count++) answers.push(await chat(customer))
    expect(statuses(answers)).toEqual([200, 200, 429, 429, 429])
    for (const { error } of answers.slice(2)) expect(error.details).toMatchObject({ window: 60 })
    await billing.rig.gateway.admin('PUT', `/users/${customer.userId}`, {
      limits: { requests_per_minute: 4 },
    })
    // What the minute refuses until the node has heard of it counts nowhere.
    const last = await eventuallyReads(
      () => chat(customer),
      ({ status }) => status === 200,
    )
    expect(last.headers.get('x-ratelimit-remaining')).toBe('1')
    expect((await chat(customer)).error.details).toMatchObject({ limit: 3 })
    const list = { method: 'GET', path: '/v1/models/sandbox/echo', key: customer.key }
    const listed = await sendRequest(billing.rig.gateway, list)
    expect(listed.headers.get('x-ratelimit-remaining')).toBe('0')
  })

  test('an override of the operator wins over the plan; null lifts it', async () => {
    const customer = await limited({ monthly_requests: 1 }, {}, { limits: { monthly_requests: 2 } })
    expect(statuses([await chat(customer), await chat(customer), await chat(customer)])).toEqual([
      200, 200, 429,
    ])
    await billing.rig.gateway.admin('PUT', `/users/${customer.userId}`, {
      limits: { monthly_requests: null },
    })
    const tookMs = await eventually(async () => (await chat(customer)).status === 200)
    recordFigure('a limit that is lifted', tookMs, { unit: 'ms', atMost: 1000 })
  })
})

describe('spending a month', () => {
  test('for a key: the error names the remainder and the required hold; the true cost counts', async () => {
    const floor = await billing.floorOf('ok', { max_tokens: 256 })
    const customer = await limited({}, { monthly_spend_limit: 0.01 })
    let spent = 0n
    let answer = await chat(customer)
    while (answer.status === 200) {
      spent += reportedCost(answer)
      // Each is let in only while the smallest hold fits.
      expect(nanosOf(0.01) - spent + reportedCost(answer)).toBeGreaterThanOrEqual(floor)
      answer = await chat(customer)
    }
    expect(answer.status).toBe(402)
    expect(answer.error).toMatchObject({
      type: 'billing_error',
      code: 'insufficient_credits',
      message: expect.stringContaining('spending limit'),
      details: { current_balance: usd(nanosOf(0.01) - spent), minimum_required: usd(floor) },
    })
    expect(nanosOf(0.01) - spent).toBeLessThan(floor)
    expect(answer.headers.get('x-ratelimit-limit')).toBeNull()
    // Another key of the account has no limit.
    expect((await chat(await secondKey(customer))).status).toBe(200)
    // What costs nothing goes on.
    const free = await billing.rig.model('free', { is_free: true, upstream_model: 'ok' })
    expect((await chat(customer, { model: free })).status).toBe(200)
  })

  test('for a plan: all keys together', async () => {
    const customer = await limited({ monthly_spend: 0.01 })
    const second = await secondKey(customer)
    await chat(customer, { max_tokens: 1000 }, 'chunks-1000')
    const cost = priceOf(2, 1000)
    const first = await chat(second, { max_tokens: 1000 }, 'chunks-1000')
    expect([first.status, reportedCost(first) > cost - 10_000n]).toEqual([200, true])
    const refused = await chat(customer, { max_tokens: 256, n: 2 })
    expect(refused.status).toBe(402)
    const left = nanosOf(refused.error.details?.['current_balance'])
    expect((await chat(second, { max_tokens: 256, n: 2 })).error.details).toMatchObject({
      current_balance: usd(left),
    })
  })

  test('lowers the output limit to the remainder, as the balance does', async () => {
    const fields = { stream: true, max_tokens: 4000 }
    const floor = await billing.floorOf('chunks-3000', fields)
    const customer = await limited({ monthly_spend: 0.01 })
    expect((await chat(customer, fields, 'chunks-3000')).status).toBe(200)
    const [sent] = billing.rig.upstream.requests().filter(({ model }) => model === 'chunks-3000')
    // What the floor leaves of a cent, at 4,000 nano-dollars a token.
    const cap = 256 + Number((10_000_000n - floor) / 4000n)
    expect(parsed(JSON.stringify(sent?.body))['max_tokens']).toBe(cap)
  })

  test('running requests hold their part: many at once never spend more than the limit', async () => {
    const customer = await limited({ monthly_spend: 0.01 })
    const { posted } = await accountOf(billing.sql, customer)
    const name = 'held-256'
    const floor = await billing.floorOf(name, { max_tokens: 256, stream: true })
    const fitting = Number(nanosOf(0.01) / floor)
    const refused: number[] = []
    const asking = Array.from({ length: 60 }, async () => {
      const { status } = await chat(customer, { stream: true }, name)
      if (status !== 200) refused.push(status)
    })
    // All that fit run at the same time, and no more do.
    await eventually(() => refused.length === 60 - fitting)
    expect(new Set(refused)).toEqual(new Set([402]))
    await billing.rig.upstream.releaseHeld(fitting)
    await Promise.all(asking)
    expect(refused).toHaveLength(60 - fitting)
    await waitUntilBooked(billing.sql, billing.rig.upstream.requests().length)
    const spent = posted - (await accountOf(billing.sql, customer)).posted
    expect(spent).toBeGreaterThan(0n)
    expect(spent).toBeLessThanOrEqual(nanosOf(0.01))
  })

  test('limited to 0 rejects every priced request; without credit the error is that of the balance', async () => {
    const [rich, poor] = [
      await limited({ monthly_spend: 0 }),
      await limited({ monthly_spend: 0 }, {}, { credit: 0 }),
    ]
    expect((await chat(rich)).error.message).toContain('spending limit')
    const refused = await chat(poor)
    expect([refused.status, refused.error.message]).toEqual([
      402,
      expect.stringContaining('available balance'),
    ])
    await billing.rig.gateway.admin('PUT', `/users/${poor.userId}`, {
      payment_method_required: true,
    })
    await eventually(async () => (await chat(poor)).error.code === 'payment_required')
  })
})

const dayOf = (month: number, day: number) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + month, day))
}

const insert = async (customer: Customer, startsAt: Date, requests: number) => {
  await billing.sql`
    insert into usage_sum values (
      'day', ${startsAt}, ${customer.userId}, ${customer.userId}, ${customer.keyId}, 'fake/was',
      ${requests}, 0, 0, 0, 0, 0, 0, 0, 0, 0, ${requests * 1_000_000}, 0)`
}

describe('the sums of the month', () => {
  test('exist from before the first request; the previous month’s do not', async () => {
    const customer = await limited(
      { monthly_requests: 5, monthly_spend: 1 },
      { monthly_spend_limit: 0.01 },
    )
    await insert(customer, dayOf(0, 0), 1000)
    await insert(customer, dayOf(0, 1), 4)
    // 4 requests and 0.004 USD were used: one more, of at most 0.006.
    const big = await chat(customer, { max_tokens: 1000, n: 6 })
    expect(big.error.details).toMatchObject({ current_balance: 0.006 })
    expect((await chat(customer)).status).toBe(200)
    expect((await chat(customer)).error.details).toMatchObject({ limit: 5 })
  })

  test('bookings of others are seen within seconds, without a request that waits for them', async () => {
    const customer = await limited({ monthly_requests: 1000, requests_per_minute: 10_000 })
    expect((await chat(customer)).status).toBe(200)
    await insert(customer, dayOf(0, 1), 1000)
    const tookMs = await eventually(async () => (await chat(customer)).status !== 200)
    recordFigure('usage that others booked', tookMs, { unit: 'ms', atMost: 6000 })
  })

  test('are 503, not 402 or 429, when unreadable; others are not affected', async () => {
    const known = await limited({ monthly_requests: 1000 })
    const fresh = await limited({ monthly_spend: 1, requests_per_minute: 7 })
    const unlimited = await limited({})
    // All keys have been seen, and of the known one the sums too.
    expect((await chat(known)).status).toBe(200)
    const list = { method: 'GET', path: '/v1/models/sandbox/echo' }
    for (const { key } of [fresh, unlimited])
      await sendRequest(billing.rig.gateway, { ...list, key })
    const free = await billing.rig.model('free', { is_free: true, upstream_model: 'ok' })
    {
      await using sql = await openDatabase(billing.rig.gateway.dataDir)
      await sql.begin(async (trx) => {
        await trx`lock table usage_sum in access exclusive mode`
        const refused = await chat(fresh, { model: free })
        expect(refused.error).toMatchObject({ code: 'gateway_unavailable' })
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
        recordFigure('sums that cannot be read', refused.tookMs, { unit: 'ms', atMost: 1200 })
        expect(refused.headers.get('x-ratelimit-remaining')).toBe('6')
        const again = await chat(fresh, { model: free })
        expect(again.status).toBe(503)
        recordFigure('the same again', again.tookMs, { unit: 'ms', atMost: 300 })
        expect((await chat(known, { model: free })).status).toBe(200)
        expect((await chat(unlimited, { model: free })).status).toBe(200)
      })
    }
    await eventually(async () => (await chat(fresh)).status === 200)
  })
})

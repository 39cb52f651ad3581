import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { call, problem } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, type Answer, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'

let rig: Rig
let sql: Awaited<ReturnType<typeof openDatabase>>
let plan: unknown

const limits = {
  requests_per_minute: 50,
  tokens_per_minute: 100_000,
  images_per_minute: 12,
  audio_seconds_per_minute: 600,
  concurrent_requests: 4,
  monthly_requests: 200,
  monthly_spend: 8,
}

beforeAll(async () => {
  await untilDayLasts()
  rig = await startRig({ environment: { MINIMUM_BALANCE_USD: '0.1' } })
  sql = await openDatabase(rig.gateway.dataDir)
  plan = (await rig.gateway.admin('POST', '/plans', { name: 'limited', ...limits }))['id']
}, 30_000 + dayWaitMs)
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await rig[Symbol.asyncDispose]()
})
afterEach(() => rig.gateway.recorder.verify())

const limited = (user: Json = {}) => rig.gateway.customer({}, { plan_id: plan, ...user })
const api = (request: string, by: Customer, body?: Json) => call(rig.gateway, by, request, body)
const chat = async ({ key }: Customer, name: string) =>
  sendRequest(rig.gateway, {
    key,
    body: { model: await rig.model(name), messages, max_tokens: 100 },
  })

interface Quota {
  type: string
  limit: number | null
  used: number
  remaining: number | null
  percentage: number
  unit: string
  resets_at: string | null
}

/** By type. */
async function quotasOf(customer: Customer): Promise<Record<string, Quota>> {
  const { body } = await api('GET /user/quota/status', customer)
  const quotas: Quota[] = Array.isArray(body['quotas']) ? body['quotas'] : []
  return Object.fromEntries(quotas.map((quota) => [quota.type, quota]))
}

const unused = (type: keyof typeof limits, unit: string, resets_at: string | null = null) => {
  const limit = limits[type]
  return { type, limit, used: 0, remaining: limit, percentage: 0, unit, resets_at }
}

describe('the state of an account', () => {
  test('nothing is used at first', async () => {
    const { status, body } = await api('GET /user/quota/status', await limited())
    const now = new Date(String(body['updated_at']))
    const month = (more: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + more)).toISOString()
    expect([status, body]).toEqual([
      200,
      {
        tier: 'limited',
        period: { start: month(0), end: month(1) },
        quotas: [
          unused('requests_per_minute', 'requests'),
          unused('tokens_per_minute', 'tokens'),
          unused('images_per_minute', 'images'),
          unused('audio_seconds_per_minute', 'seconds'),
          unused('concurrent_requests', 'requests'),
          unused('monthly_requests', 'requests', month(1)),
          unused('monthly_spend', 'usd', month(1)),
        ],
        organizations: [],
        usage_cost: 0,
        by_payer: [],
        updated_at: expect.any(String),
      },
    ])
  })

  test('returns the current counts, and the booked usage of the month', async () => {
    const customer = await limited()
    const answer = await chat(customer, 'ok')
    const cost = Number(answer.headers.get('x-tollgate-cost'))
    const readAtMs = Date.now()
    const { requests_per_minute: requests, tokens_per_minute: tokens } = await quotasOf(customer)
    expect(requests).toMatchObject({ used: 1, remaining: 49, percentage: 2 })
    expect(Date.parse(requests?.resets_at ?? '')).toBeWithin(readAtMs, Date.now() + 60_001)
    const { usage } = answer.body
    expect(tokens?.used).toBe(Number(Reflect.get(Object(usage), 'total_tokens')))
    const booked = await eventuallyReads(
      () => quotasOf(customer),
      ({ monthly_requests }) => monthly_requests?.used === 1,
    )
    expect(booked['monthly_spend']?.used).toBe(cost)
    expect(booked['monthly_requests']).toMatchObject({ remaining: 199, percentage: 0.5 })
  })

  test('a running request has a slot, until it ends', async () => {
    const customer = await limited()
    const running = [chat(customer, 'held-10'), chat(customer, 'held-10')]
    const busy = await eventuallyReads(
      () => quotasOf(customer),
      ({ concurrent_requests }) => concurrent_requests?.used === 2,
    )
    expect(busy['concurrent_requests']).toMatchObject({ limit: 4, remaining: 2, percentage: 50 })
    await eventually(() => rig.upstream.heldCount() === 2)
    rig.upstream.release()
    await Promise.all(running)
    const idle = await eventuallyReads(
      () => quotasOf(customer),
      ({ concurrent_requests }) => concurrent_requests?.used === 0,
    )
    expect(idle['concurrent_requests']?.remaining).toBe(4)
    // Looking at it took none of the model endpoints' requests.
    expect(idle['requests_per_minute']?.used).toBe(2)
  })

  test('an unlimited quota is never full; single limits of an account count', async () => {
    const customer = await rig.gateway.customer({}, { limits: { requests_per_minute: null } })
    await logged(customer, 3)
    const quotas = await quotasOf(customer)
    const unlimited = { limit: null, remaining: null, percentage: 0 }
    expect(quotas['requests_per_minute']).toMatchObject({ ...unlimited, used: 3 })
    expect(quotas['images_per_minute']).toMatchObject({ ...unlimited, used: 6 })
    // Each of 2.2 seconds, rounded up.
    expect(quotas['audio_seconds_per_minute']).toMatchObject({ ...unlimited, used: 9 })
    expect(quotas['monthly_requests']).toMatchObject(unlimited)
    expect(quotas['monthly_spend']).toMatchObject({ ...unlimited, unit: 'usd' })
    const other = await limited({ limits: { monthly_spend: 2.5, requests_per_minute: 7 } })
    expect(await quotasOf(other)).toMatchObject({
      requests_per_minute: { limit: 7 },
      monthly_spend: { limit: 2.5, remaining: 2.5 },
      concurrent_requests: { limit: 4 },
    })
  })
})

/** Lines of the request log, of this moment. */
const logged = ({ userId }: Customer, count: number) => sql`
  insert into request_log
    (id, started_at, user_id, method, endpoint, streamed, requested_model, model, status, status_code,
     latency_ms, input_tokens, output_tokens, estimated, cost, platform_fee, concurrent, ip_address,
     user_agent, images, sound_ms, speech_ms)
  select 'req_' || lpad(n::text, 26, 'z'), now(), ${userId}, 'POST', '/v1/chat/completions', false,
    'a/b', 'a/b', 'success', 200, 1, 1, 1, false, 0, 0, 1, '127.0.0.1', 'test',
    2, 1500, 700
  from generate_series(1, ${count}) as n`

const history = (customer: Customer, query = '') => api(`GET /user/quota/history${query}`, customer)
/** What was used on a day: 2 USD, 15 tokens, and so many requests. */
const used = async (
  { userId, keyId }: Customer,
  ...[day, requests, rpm = 0]: [day: string, requests: number, rpm?: number]
) => {
  await sql`
    insert into request_sum
      (grain, starts_at, user_id, key_id, model, requests, successes, failures, cancellations,
       input_tokens, output_tokens, latency_ms, cost, own_cost, peak_concurrent)
    values ('day', ${`${day}T00:00:00Z`}, ${userId}, ${keyId}, 'a/b', ${requests}, ${requests}, 0, 0,
      10, 5, 1, 9000000000, 2000000000, 1)`
  await sql`
    insert into usage_sum
      (grain, starts_at, account_id, user_id, key_id, model, requests, failures, input_tokens,
       cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
       audio_input_tokens, audio_output_tokens, duration_ms, cost, written_off)
    values ('day', ${`${day}T00:00:00Z`}, ${userId}, ${userId}, ${keyId}, 'a/b', ${requests}, 0, 10,
      0, 0, 5, 0, 0, 0, 1, 2000000000, 0)`
  await sql`
    insert into request_peak values (${userId}, ${day}, ${rpm}, 1000, 1)`
}

const day = (date: string, requests: number, more: Json = {}) => ({
  date,
  requests,
  tokens: requests > 0 ? 15 : 0,
  cost: requests > 0 ? 2 : 0,
  usage_cost: requests > 0 ? 9 : 0,
  peak_rpm: 0,
  percentage: 0,
  ...more,
})

describe('usage', () => {
  test('day by day and month by month, with the highest of all percentages', async () => {
    const customer = await limited()
    await used(customer, '2025-01-30', 20, 5)
    await used(customer, '2025-01-31', 20, 40)
    await used(customer, '2025-02-01', 10)
    const range = '?start_date=2025-01-30&end_date=2025-02-02'
    const { status, body } = await history(customer, range)
    // Of 8 USD a month: 2 each day, from the first on; 40 of 50 requests a minute.
    expect([status, body]).toEqual([
      200,
      {
        history: [
          day('2025-02-02', 0, { percentage: 25 }),
          day('2025-02-01', 10, { percentage: 25 }),
          day('2025-01-31', 20, { peak_rpm: 40, percentage: 80 }),
          day('2025-01-30', 20, { peak_rpm: 5, percentage: 25 }),
        ],
        pagination: { total: 4, limit: 50, offset: 0, has_more: false, next_cursor: null },
      },
    ])
    const { body: months } = await history(customer, `${range}&granularity=month`)
    expect(months['history']).toEqual([
      { ...day('2025-02-01', 10), percentage: 25 },
      {
        date: '2025-01-01',
        requests: 40,
        tokens: 30,
        cost: 4,
        usage_cost: 18,
        peak_rpm: 40,
        percentage: 80,
      },
    ])
  })

  test('images and seconds of sound have percentages of their busiest minute', async () => {
    const customer = await limited({
      limits: { images_per_minute: 20, audio_seconds_per_minute: 300 },
    })
    for (const [day, images, seconds] of [
      ['2025-04-01', 18, 30],
      ['2025-04-02', 5, 240],
    ] as const) {
      await used(customer, day, 1)
      await sql`
        update request_peak set images_per_minute = ${images}, audio_seconds_per_minute = ${seconds}
        where user_id = ${customer.userId} and day = ${day}`
    }
    const range = '?start_date=2025-04-01&end_date=2025-04-02'
    expect((await history(customer, range)).body['history']).toMatchObject([
      { percentage: 80 },
      { percentage: 90 },
    ])
    const { body } = await history(customer, `${range}&granularity=month`)
    expect(body['history']).toMatchObject([{ percentage: 90 }])
  })

  test('A03: the usage of others is absent', async () => {
    const [owner, stranger] = [await limited(), await limited()]
    await used(owner, '2025-03-01', 3, 1)
    const { body } = await history(stranger, '?start_date=2025-03-01&end_date=2025-03-01')
    expect(body['history']).toMatchObject([{ requests: 0, tokens: 0, cost: 0, percentage: 0 }])
  })

  test('thirty days by default, in pages', async () => {
    const customer = await limited()
    const today = new Date().toISOString().slice(0, 10)
    const { body } = await history(customer, '?limit=20')
    expect(body).toMatchObject({
      history: { length: 20, 0: { date: today } },
      pagination: { total: 30, has_more: true },
    })
    const cursor = String(Reflect.get(Object(body['pagination']), 'next_cursor'))
    const { body: rest } = await history(customer, `?limit=20&cursor=${encodeURIComponent(cursor)}`)
    expect(rest).toMatchObject({ history: { length: 10 }, pagination: { has_more: false } })
  })

  test.each([
    ['?start_date=yesterday', 'start_date', 'bad_format'],
    ['?end_date=2025-13-01', 'end_date', 'bad_format'],
    ['?start_date=2025-02-01&end_date=2025-01-01', 'start_date', 'out_of_range'],
    ['?start_date=2020-01-01&end_date=2025-01-01', 'start_date', 'out_of_range'],
    ['?granularity=hour', 'granularity', 'unknown_value'],
    ['?limit=101', 'limit', 'out_of_range'],
  ])('%s is rejected at %s: %s', async (query, param, issue) => {
    expect(problem(await history(await limited(), query))).toEqual([400, param, issue])
  })
})

test('A01: without the permission', async () => {
  const reader = await rig.gateway.customer({ permissions: ['read'] })
  const writer = await rig.gateway.customer({ permissions: ['write'] })
  const refused: [string, Customer][] = [
    ['GET /user/quota/status', writer],
    ['GET /user/quota/history', writer],
    ['POST /user/quota/request-increase', reader],
    ['POST /user/quota/estimate-cost', reader],
  ]
  const answers: Answer[] = []
  for (const [request, by] of refused) answers.push(await api(request, by))
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
})

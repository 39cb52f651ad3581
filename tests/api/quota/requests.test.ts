import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { call, idIn, problem } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Json } from '../../harness/http'
import { sendOperatorRequest as askOperator, problem as problemOf } from '../../harness/operator'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let gateway: Gateway
let plan: unknown
let sql: Awaited<ReturnType<typeof openDatabase>>

beforeAll(async () => {
  gateway = await startGateway()
  sql = await openDatabase(gateway.dataDir)
  const limits = { requests_per_minute: 2, tokens_per_minute: 1000, monthly_spend: 10 }
  plan = (await gateway.admin('POST', '/plans', { name: 'small', ...limits }))['id']
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
afterEach(() => gateway.recorder.verify())

const newCustomer = (user: Json = {}) => gateway.customer({}, { credit: 0, plan_id: plan, ...user })
const fields = (more: Json = {}): Json => ({
  quota_type: 'requests_per_minute',
  requested_limit: 100,
  reason: 'We have many readers.',
  ...more,
})
const wish = (by: Customer, more: Json = {}) =>
  call(gateway, by, 'POST /user/quota/request-increase', fields(more))
const operator = (request: string, body?: Json) => askOperator(gateway, request, body)

/** The limit of requests a minute, as `/v1` tells it. */
const reportedLimit = async ({ key }: Customer) => {
  const { headers } = await sendRequest(gateway, { path: '/v1/models', method: 'GET', key })
  return headers.get('x-ratelimit-limit')
}

test('a wish waits to be decided', async () => {
  const { status, body } = await wish(await newCustomer())
  expect([status, body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^qreq_[0-9a-z]{26}$/),
      quota_type: 'requests_per_minute',
      current_limit: 2,
      requested_limit: 100,
      reason: 'We have many readers.',
      status: 'pending',
      decision_note: null,
      decided_at: null,
      created_at: expect.any(String),
    },
  ])
  const money = await wish(await newCustomer(), {
    quota_type: 'monthly_spend',
    requested_limit: 12.5,
  })
  expect(money.body).toMatchObject({ current_limit: 10, requested_limit: 12.5 })
})

test.each<[Json, string, string]>([
  [{ quota_type: undefined }, 'quota_type', 'required'],
  [{ quota_type: 'disk' }, 'quota_type', 'unknown_value'],
  [{ requested_limit: undefined }, 'requested_limit', 'required'],
  [{ requested_limit: '100' }, 'requested_limit', 'wrong_type'],
  [{ requested_limit: 2 }, 'requested_limit', 'out_of_range'],
  [{ requested_limit: 1 }, 'requested_limit', 'out_of_range'],
  [{ requested_limit: -1 }, 'requested_limit', 'out_of_range'],
  [{ requested_limit: 100.5 }, 'requested_limit', 'out_of_range'],
  [{ requested_limit: 1e12 }, 'requested_limit', 'out_of_range'],
  [{ quota_type: 'concurrent_requests' }, 'requested_limit', 'out_of_range'],
  [{ quota_type: 'monthly_spend', requested_limit: 10.001 }, 'requested_limit', 'out_of_range'],
  [{ reason: undefined }, 'reason', 'required'],
  [{ reason: 'Too short' }, 'reason', 'too_short'],
  [{ reason: 'x'.repeat(2001) }, 'reason', 'too_long'],
])('%j is rejected at %s: %s', async (more, param, issue) => {
  expect(problem(await wish(await newCustomer(), more))).toEqual([400, param, issue])
})

test('at most one request of each type is open, also under concurrent requests', async () => {
  const customer = await newCustomer()
  const answers = await Promise.all(Array.from({ length: 8 }, () => wish(customer)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused).toHaveLength(7)
  expect(refused.map(problem)).toEqual(refused.map(() => [400, 'quota_type', 'duplicate']))
  expect(
    (await wish(customer, { quota_type: 'tokens_per_minute', requested_limit: 2000 })).status,
  ).toBe(201)
  expect((await wish(await newCustomer())).status).toBe(201)
})

/** What an account asked for, as it is told. */
const own = async (by: Customer, query = '') =>
  (await call(gateway, by, `GET /user/quota/requests${query}`)).body

test('only the requester sees the decision', async () => {
  const customer = await newCustomer()
  const first = (await wish(customer)).body
  const second = (await wish(customer, { quota_type: 'monthly_spend', requested_limit: 50 })).body
  await wish(await newCustomer())
  expect((await own(customer))['quota_requests']).toEqual([second, first])
  const page = await own(customer, '?limit=1&offset=1')
  expect(page).toMatchObject({ quota_requests: [first], pagination: { total: 2 } })
  await operator(`POST /quota-requests/${String(first['id'])}/reject`, { note: 'Not this month.' })
  expect((await own(customer, '?limit=1&offset=1'))['quota_requests']).toEqual([
    expect.objectContaining({ status: 'rejected', decision_note: 'Not this month.' }),
  ])
  expect((await own(await newCustomer()))['quota_requests']).toEqual([])
})

describe('the operator', () => {
  test.each(['images_per_minute', 'audio_seconds_per_minute'])(
    'approves %s, which then overrides the plan',
    async (type) => {
      const customer = await newCustomer({ limits: { [type]: 4 } })
      const same = await wish(customer, { quota_type: type, requested_limit: 4 })
      expect(problem(same)[1]).toBe('requested_limit')
      const id = idIn(await wish(customer, { quota_type: type, requested_limit: 20 }))
      expect((await operator(`POST /quota-requests/${id}/approve`)).status).toBe(200)
      const user = await gateway.admin('GET', `/users/${customer.userId}`)
      expect(user['limits']).toEqual({ [type]: 20 })
    },
  )

  test('approves: the one limit applies within a second, and the account is notified', async () => {
    const customer = await newCustomer({ limits: { tokens_per_minute: 5000 } })
    const id = idIn(await wish(customer))
    expect(await reportedLimit(customer)).toBe('2')
    await reportedLimit(customer)
    expect(
      (await sendRequest(gateway, { path: '/v1/models', method: 'GET', key: customer.key })).status,
    ).toBe(429)
    const { status, body } = await operator(`POST /quota-requests/${id}/approve`)
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        id,
        user_id: customer.userId,
        status: 'approved',
        granted_limit: 100,
        decision_note: null,
        decided_at: expect.any(String),
      }),
    ])
    // What was full is not any more, well before its minute is over.
    await eventually(async () => (await reportedLimit(customer)) === '100')
    const user = await gateway.admin('GET', `/users/${customer.userId}`)
    expect(user['limits']).toEqual({ requests_per_minute: 100, tokens_per_minute: 5000 })
    const notifications = await sql`
      select kind, title, notification.body, mail.subject, mail.body as mailed
      from notification join users on users.id = user_id
        join mail on recipient = email and mail.subject = title
      where user_id = ${customer.userId}`
    const title = 'Your request for more requests per minute was approved'
    const words = 'Your limit of requests per minute is 100 now.'
    expect([...notifications]).toEqual([
      { kind: 'quota_request', title, body: words, subject: title, mailed: `${words}\n` },
    ])
    expect((await wish(customer, { requested_limit: 200 })).body).toMatchObject({
      current_limit: 100,
    })
  })

  test('may grant another limit, with a reason', async () => {
    const customer = await newCustomer()
    const increase = { quota_type: 'monthly_spend', requested_limit: 50 }
    const id = idIn(await wish(customer, increase))
    const decision = { limit: 20.5, note: 'For a start.' }
    const { body } = await operator(`POST /quota-requests/${id}/approve`, decision)
    expect(body).toMatchObject({ granted_limit: 20.5, decision_note: 'For a start.' })
    const { body: status } = await call(gateway, customer, 'GET /user/quota/status')
    expect(status['quotas']).toContainEqual(
      expect.objectContaining({ type: 'monthly_spend', limit: 20.5, remaining: 20.5 }),
    )
  })

  test('rejects: nothing changes', async () => {
    const customer = await newCustomer()
    const id = idIn(await wish(customer))
    const { body } = await operator(`POST /quota-requests/${id}/reject`, { note: 'Not yet.' })
    expect(body).toMatchObject({
      status: 'rejected',
      granted_limit: null,
      decision_note: 'Not yet.',
    })
    const user = await gateway.admin('GET', `/users/${customer.userId}`)
    expect(user['limits']).toEqual({})
    const [notification] =
      await sql`select body from notification where user_id = ${customer.userId}`
    expect(notification).toEqual({
      body: 'Your limit of requests per minute stays as it is.\n\nNot yet.',
    })
    expect((await wish(customer)).status).toBe(201)
  })

  test('decides once, also where two decide at once', async () => {
    const customer = await newCustomer()
    const id = idIn(await wish(customer))
    const decisions = ['approve', 'reject', 'approve', 'reject']
    const answers = await Promise.all(
      decisions.map((decision) => operator(`POST /quota-requests/${id}/${decision}`)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const late = answers.filter(({ status }) => status !== 200)
    expect(late.map(problemOf)).toEqual(late.map(() => [400, null, 'wrong_state']))
    const [notification] = await sql`
      select count(*)::int as notices from notification where user_id = ${customer.userId}`
    expect(notification).toEqual({ notices: 1 })
  })

  test.each<[Json, string, string]>([
    [{ limit: 0 }, 'limit', 'out_of_range'],
    [{ limit: 1.5 }, 'limit', 'out_of_range'],
    [{ limit: 'x' }, 'limit', 'wrong_type'],
    [{ note: 'x'.repeat(1001) }, 'note', 'too_long'],
  ])('is rejected %j at %s: %s', async (body, param, issue) => {
    const id = idIn(await wish(await newCustomer()))
    const answer = await operator(`POST /quota-requests/${id}/approve`, body)
    expect(problemOf(answer)).toEqual([400, param, issue])
    expect((await operator(`POST /quota-requests/${id}/reject`)).status).toBe(200)
  })

  test('finds requests by their fields and their account', async () => {
    const customer = await newCustomer()
    const reason = `Needle ${crypto.randomUUID()}`
    const id = idIn(await wish(customer, { reason }))
    const found = async (query: string) => {
      const { body } = await operator(`GET /quota-requests?${query}`)
      const listed = body['quota_requests']
      return Array.isArray(listed) ? listed.map((request) => request.id) : body
    }
    const search = encodeURIComponent(reason)
    expect(await found(`search=${search}`)).toEqual([id])
    expect(await found(`search=${search}&status=pending`)).toEqual([id])
    expect(await found(`search=${search}&status=approved`)).toEqual([])
    expect((await operator('GET /quota-requests?status=x')).status).toBe(400)
    for (const unknown of ['nonsense', 'qreq_00000000000000000000000000']) {
      expect((await operator(`POST /quota-requests/${unknown}/approve`)).status).toBe(404)
      expect((await operator(`POST /quota-requests/${unknown}/reject`)).status).toBe(404)
    }
  })

  test('A06: is hidden from every other account', async () => {
    const { key } = await gateway.customer({ permissions: ['admin'] })
    for (const path of ['/api/admin/quota-requests', '/api/admin/tickets']) {
      expect((await sendRequest(gateway, { path, method: 'GET', key })).status).toBe(404)
      expect((await sendRequest(gateway, { path, method: 'GET' })).status).toBe(404)
    }
  })
})

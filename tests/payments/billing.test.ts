import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { balanceOf, eventually, transactionsOf } from './stage'
import { newOrganization } from '../connections/organization'
import { call, openStage, problem, type Stage } from '../connections/stage'
import { openDatabase } from '../database'
import { ask, messages, type Json } from '../faults/asking'
import type { Customer } from '../rig'

let stage: Stage
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  stage = await openStage()
  sql = await openDatabase(stage.gateway.dataDir)
  await stage.gateway.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'echo',
    category: 'chat',
    pricing: { input: 100, output: 400 },
  })
})
afterAll(async () => {
  stage.gateway.recorder.verify()
  await sql[Symbol.asyncDispose]()
  await stage[Symbol.asyncDispose]()
})

const read = (customer: Customer, path: string) =>
  call(stage.gateway, customer, `GET /billing${path}`)

const grant = (fields: Json) => stage.gateway.admin('POST', '/credits/grant', fields)

/** USD that a chat cost. */
async function chat(customer: Customer, model = 'sandbox/priced'): Promise<number> {
  const body = { model, messages, max_tokens: 5 }
  const answer = await ask(stage.gateway, { key: customer.key, body })
  expect(answer.status).toBe(200)
  return Number(answer.headers.get('x-tollgate-cost'))
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? value : [])

test('a balance says what is there, and when it is low', async () => {
  const customer = await stage.somebody()
  expect(await balanceOf(stage.gateway, customer)).toEqual({
    balance: 0,
    held: 0,
    available_balance: 0,
    currency: 'USD',
    minimum_required: 0,
    warning_threshold: 1,
    low_balance: true,
    funding_source: 'personal',
    organization_id: null,
    payment_method_required: false,
    updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
  })
  await grant({ user_id: customer.userId, amount: 1, reason: 'Welcome' })
  expect(await balanceOf(stage.gateway, customer)).toMatchObject({
    balance: 1,
    available_balance: 1,
    low_balance: false,
  })
  // What a running node has set aside is held.
  await sql`update credit_account set leased = 250000000 where id = ${customer.userId}`
  expect(await balanceOf(stage.gateway, customer)).toMatchObject({
    balance: 1,
    held: 0.25,
    available_balance: 0.75,
    low_balance: true,
  })
  await sql`update credit_account set leased = 0 where id = ${customer.userId}`
})

test('usage is among the transactions, with its request where it was one', async () => {
  const customer = await stage.somebody()
  await grant({ user_id: customer.userId, amount: 2, reason: 'Welcome' })
  const body = { model: 'sandbox/priced', messages, max_tokens: 5 }
  const answer = await ask(stage.gateway, { key: customer.key, body })
  const cost = Number(answer.headers.get('x-tollgate-cost'))
  await eventually(
    async () => (await transactionsOf(stage.gateway, customer, '?type=usage')).length === 1,
  )
  expect(await transactionsOf(stage.gateway, customer)).toEqual([
    {
      id: expect.stringMatching(/^txn_/),
      type: 'usage',
      amount: -cost,
      currency: 'USD',
      balance_after: Number((2 - cost).toFixed(9)),
      description: 'Usage',
      status: 'completed',
      payer: 'personal',
      organization_id: null,
      reference_id: answer.headers.get('x-request-id'),
      request_count: 1,
      created_at: expect.any(String),
    },
    expect.objectContaining({
      type: 'bonus',
      amount: 2,
      description: 'Welcome',
      reference_id: null,
      request_count: null,
    }),
  ])
})

test('pages go on where the last one ended, through entries and checkouts alike', async () => {
  const customer = await stage.somebody()
  const { userId } = customer
  const names: string[] = []
  for (let index = 0; index < 7; index++) {
    if (index % 3 === 2) {
      const id = `cs_${String(index).repeat(26)}`
      await sql`insert into payment (id, kind, account_id, user_id, amount)
        values (${id}, 'checkout', ${userId}, ${userId}, 5000000000)`
      names.unshift(id)
    } else {
      await grant({ user_id: userId, amount: 1, reason: String(index) })
      names.unshift(String(index))
    }
  }
  const seen: unknown[] = []
  for (let path = '/transactions?limit=2'; path !== '';) {
    const { body } = await read(customer, path)
    const { pagination } = body
    seen.push(...list(body['transactions']))
    const next = { ...(pagination as Json) }['next_cursor']
    expect(pagination).toMatchObject({ total: 7, limit: 2, has_more: next !== null })
    path = next === null ? '' : `/transactions?limit=2&cursor=${String(next)}`
  }
  const nameOf = (one: Json) => (one['type'] === 'bonus' ? one['description'] : one['id'])
  expect(list(seen).map(nameOf)).toEqual(names)
  const { body } = await read(customer, '/transactions?limit=3&offset=2')
  expect(list(body['transactions']).map(nameOf)).toEqual(names.slice(2, 5))
  const { next_cursor: cursor } = { ...(body['pagination'] as Json) }
  const other = await read(customer, `/transactions?type=bonus&cursor=${String(cursor)}`)
  expect(problem(other)).toEqual([400, 'cursor', 'bad_format'])
})

test('filters leave what they name', async () => {
  const customer = await stage.somebody()
  const { userId } = customer
  await grant({ user_id: userId, amount: 3, reason: 'Welcome' })
  await stage.gateway.admin('POST', '/credits/adjust', {
    user_id: userId,
    amount: -1,
    reason: 'Taken',
  })
  await sql`insert into payment (id, kind, account_id, user_id, amount, status)
    values (${`cs_${'z'.repeat(26)}`}, 'checkout', ${userId}, ${userId}, 5000000000, 'failed')`
  const kinds = async (query: string) =>
    (await transactionsOf(stage.gateway, customer, query)).map(
      (one) => `${String(one['type'])} ${String(one['status'])}`,
    )
  expect(await kinds('?type=adjustment')).toEqual(['adjustment completed'])
  expect(await kinds('?status=failed')).toEqual(['purchase failed'])
  expect(await kinds('?status=failed&type=bonus')).toEqual([])
  expect(await kinds('?status=completed')).toEqual(['adjustment completed', 'bonus completed'])
  const today = new Date().toISOString().slice(0, 10)
  expect(await kinds(`?start_date=${today}&end_date=${today}`)).toHaveLength(3)
  expect(await kinds('?end_date=2020-01-01')).toEqual([])
  expect(await kinds('?start_date=2999-01-01T00:00:00%2B02:00')).toEqual([])
})

test.each([
  ['/transactions?type=gift', 'type', 'unknown_value'],
  ['/transactions?status=open', 'status', 'unknown_value'],
  ['/transactions?start_date=yesterday', 'start_date', 'bad_format'],
  [
    '/transactions?start_date=2026-01-02&end_date=2026-01-01T00:00:00Z',
    'start_date',
    'out_of_range',
  ],
  ['/transactions?limit=101', 'limit', 'out_of_range'],
  ['/metrics?period=1y', 'period', 'unknown_value'],
  ['/metrics?granularity=minute', 'granularity', 'unknown_value'],
  ['/metrics?start_date=2026-01-01', 'end_date', 'required'],
  ['/metrics?end_date=2026-01-01', 'start_date', 'required'],
  ['/metrics?start_date=2025-01-01&end_date=2026-01-02', 'end_date', 'out_of_range'],
  ['/metrics?start_date=2026-01-02&end_date=2026-01-01T00:00:00Z', 'start_date', 'out_of_range'],
  ['/metrics?start_date=2026-01-01&end_date=2026-01-02&period=7d', 'period', 'conflict'],
  [
    '/metrics?start_date=2026-01-01&end_date=2026-03-01&granularity=hour',
    'granularity',
    'out_of_range',
  ],
])('%s is refused', async (path, param, issue) => {
  expect(problem(await read(await stage.somebody(), path))).toEqual([400, param, issue])
})

test('metrics say what was used and paid, by model and without gaps', async () => {
  const customer = await stage.somebody()
  await grant({ user_id: customer.userId, amount: 5, reason: 'Welcome' })
  const costs = [await chat(customer), await chat(customer)]
  await chat(customer, 'sandbox/echo')
  const total = Number((costs[0] ?? 0) + (costs[1] ?? 0)).toFixed(9)
  const summary = async () => ({ ...((await read(customer, '/metrics')).body['summary'] as Json) })
  await eventually(async () => (await summary())['total_requests'] === 3)
  const { body } = await read(customer, '/metrics?period=24h')
  expect(body['summary']).toMatchObject({
    total_requests: 3,
    success_rate: 100,
    total_cost: Number(total),
    models_used: 2,
    avg_latency_ms: expect.any(Number),
  })
  expect(body['by_model']).toMatchObject([
    { model: 'sandbox/priced', provider: 'sandbox', requests: 2, percentage: 100 },
    { model: 'sandbox/echo', provider: 'sandbox', requests: 1, cost: 0, percentage: 0 },
  ])
  const series = list(body['time_series'])
  expect(series).toHaveLength(25)
  const times = series.map((one) => Date.parse(String(one['timestamp'])))
  expect(times.slice(1).every((ms, index) => ms - (times[index] ?? 0) === 3_600_000)).toBe(true)
  expect(series.reduce((sum, one) => sum + Number(one['requests']), 0)).toBe(3)
  const { total_tokens: tokens } = { ...(body['summary'] as Json) }
  expect(series.reduce((sum, one) => sum + Number(one['tokens']), 0)).toBe(Number(tokens))
  const { next_7_days, next_30_days, daily_average } = { ...(body['projections'] as Json) }
  expect(next_30_days).toBe(Number(total))
  expect(Number(daily_average)).toBeCloseTo(Number(total) / 30, 9)
  expect(Number(next_7_days)).toBeCloseTo((Number(total) / 30) * 7, 9)
})

test('weeks begin on Mondays, months on their first; what is long ago is summed by the day', async () => {
  const customer = await stage.somebody()
  const { userId } = customer
  const add = (grain: string, at: string, cost: number) => sql`
    insert into usage_sum values (${grain}, ${at}, ${userId}, ${userId}, 'key_1', 'fake/one',
      2, 1, 10, 0, 0, 20, 0, 0, 0, 100, ${cost}, 0)`
  await add('day', '2024-01-08T00:00:00Z', 1_000_000_000)
  await add('day', '2024-02-01T00:00:00Z', 500_000_000)
  const span = 'start_date=2024-01-03&end_date=2024-02-01'
  const series = async (granularity: string) => {
    const { body } = await read(customer, `/metrics?${span}&granularity=${granularity}`)
    expect(body['summary']).toMatchObject({
      total_requests: 4,
      success_rate: 50,
      input_tokens: 20,
      output_tokens: 40,
      total_cost: 1.5,
      avg_latency_ms: 50,
    })
    return list(body['time_series']).map((one) => [
      String(one['timestamp']).slice(0, 10),
      one['cost'],
    ])
  }
  expect(await series('month')).toEqual([
    ['2024-01-01', 1],
    ['2024-02-01', 0.5],
  ])
  expect(await series('week')).toEqual([
    ['2024-01-01', 0],
    ['2024-01-08', 1],
    ['2024-01-15', 0],
    ['2024-01-22', 0],
    ['2024-01-29', 0.5],
  ])
  expect(await series('day')).toHaveLength(30)
})

test('of nothing there is no rate', async () => {
  const { body } = await read(await stage.somebody(), '/metrics')
  expect(body['summary']).toEqual({
    total_requests: 0,
    success_rate: null,
    total_tokens: 0,
    input_tokens: 0,
    output_tokens: 0,
    total_cost: 0,
    avg_latency_ms: null,
    models_used: 0,
  })
  expect(body['by_model']).toEqual([])
  expect(list(body['time_series'])).toHaveLength(31)
})

test('an organization is for those who manage it; for everybody else it is not there', async () => {
  const { id, owner, member } = await newOrganization(stage)
  const [admin, viewer] = [await member('admin'), await member('viewer')]
  const stranger = await stage.somebody()
  await grant({ organization_id: id, amount: 9, reason: 'Welcome' })
  for (const path of ['/balance', '/transactions', '/metrics']) {
    const query = `${path}?organization_id=${id}`
    expect((await read(owner, query)).status).toBe(200)
    expect((await read(admin, query)).status).toBe(200)
    const low = await read(viewer, query)
    expect([low.status, low.error.details]).toEqual([
      403,
      { required: ['owner', 'admin'], current: ['viewer'] },
    ])
    const [foreign, unknown] = [
      await read(stranger, query),
      await read(stranger, `${path}?organization_id=org_1`),
    ]
    expect([foreign.status, foreign.error.code]).toEqual([404, 'resource_not_found'])
    expect(unknown.error).toEqual(foreign.error)
  }
  const { body } = await read(owner, `/transactions?organization_id=${id}`)
  expect(body['transactions']).toMatchObject([
    { type: 'bonus', amount: 9, payer: 'organization', organization_id: id },
  ])
  // One's own is another list.
  expect(await transactionsOf(stage.gateway, owner)).toEqual([])
})

test('each reads its own, and only with a key that may read', async () => {
  const [one, other] = [await stage.somebody(), await stage.somebody()]
  await grant({ user_id: one.userId, amount: 4, reason: 'Welcome' })
  expect(await balanceOf(stage.gateway, other)).toMatchObject({ balance: 0 })
  expect(await transactionsOf(stage.gateway, other)).toEqual([])
  const writer = await stage.gateway.customer({ permissions: ['write'] }, { credit: 0 })
  for (const path of ['/balance', '/transactions', '/metrics']) {
    const { status, error } = await read(writer, path)
    expect([status, error.details]).toEqual([403, { required: ['read'], current: ['write'] }])
  }
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn, createFixture, type Fixture } from './fixture'
import type { Answer } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import type { Customer } from '../../harness/server'
import { problem } from '../../gateway/routing/fixture'

let fixture: Fixture
let customer: Customer
let other: Customer
/** Made up, with round numbers. */
let ids: string[]

const day = (hours: number) => new Date(Date.now() - hours * 3_600_000)
const idAt = (time: Date, last: number) => {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
  let text = ''
  for (let shift = 45; shift >= 0; shift -= 5)
    text += alphabet[Math.floor(time.getTime() / 2 ** shift) % 32]
  return `req_${text}000000000000000${alphabet[last]}`
}

async function insert(at: Date, last: number, fields: Record<string, unknown>): Promise<string> {
  const id = idAt(at, last)
  await fixture.sql`insert into request_log ${fixture.sql({
    id,
    started_at: at,
    user_id: customer.userId,
    key_id: customer.keyId,
    method: 'POST',
    endpoint: '/v1/chat/completions',
    streamed: false,
    requested_model: 'fake/a',
    model: 'fake/a',
    provider: 'fake',
    status: 'success',
    status_code: 200,
    latency_ms: 100,
    input_tokens: 10,
    output_tokens: 5,
    estimated: false,
    cost: 1_000_000_000,
    platform_fee: 0,
    billing_mode: 'platform',
    concurrent: 1,
    ip_address: '127.0.0.1',
    user_agent: '',
    ...fields,
  })}`
  return id
}

const failed = { status: 'error', status_code: 502, cost: 0, input_tokens: 0, output_tokens: 0 }

beforeAll(async () => {
  fixture = await createFixture()
  customer = await fixture.rig.gateway.customer({ permissions: ['read'] })
  other = await fixture.rig.gateway.customer()
  const error = { type: 'api_error', code: 'provider_error', message: 'It failed.' }
  const slow = {
    latency_ms: 900,
    first_token_ms: 40,
    model: 'fake/b',
    requested_model: 'collection/x',
  }
  ids = [
    await insert(day(24 * 40), 1, {}),
    await insert(day(50), 2, { latency_ms: 300, key_id: 'key_other' }),
    await insert(day(49), 3, { ...slow, provider: 'else', cost: 2_000_000_000 }),
    await insert(day(2), 4, { ...failed, latency_ms: 5, error }),
    await insert(day(1), 5, { ...failed, latency_ms: 6, error }),
    await insert(day(0.5), 6, { ...failed, status: 'cancelled', status_code: 499 }),
  ]
})
afterAll(() => fixture[Symbol.asyncDispose]())

const idsIn = (answer: Answer) => listIn(answer, 'logs').map(({ id }) => id)
const wanted = (...numbers: number[]) => numbers.map((number) => ids[number - 1])
const isoAt = (hours: number) => encodeURIComponent(day(hours).toISOString())

const list = async (query: string) => idsIn(await fixture.read(query, customer))

test('the list is newest first, with the filters of the contract', async () => {
  expect(await list('')).toEqual(wanted(6, 5, 4, 3, 2, 1))
  expect(await list('?model=fake/b')).toEqual(wanted(3))
  expect(await list('?provider=else')).toEqual(wanted(3))
  expect(await list('?status=error')).toEqual(wanted(5, 4))
  expect(await list('?status=cancelled')).toEqual(wanted(6))
  expect(await list('?api_key_id=key_other')).toEqual(wanted(2))
  expect(await list('?min_latency=300')).toEqual(wanted(3, 2))
  expect(await list('?min_latency=6&max_latency=300&status=success')).toEqual(wanted(2, 1))
  expect(await list(`?start_date=${isoAt(49.5)}&end_date=${isoAt(1.5)}`)).toEqual(wanted(4, 3))
  const date = day(50).toISOString().slice(0, 10)
  const onDay = ids.filter((_id, at) => [50, 49].some((h, k) => at === k + 1 && sameDay(h, date)))
  expect(await list(`?start_date=${date}&end_date=${date}`)).toEqual(onDay.toReversed())
})

const sameDay = (hours: number, date: string) => day(hours).toISOString().startsWith(date)

test('pages follow each other by cursor, which is of one list and one account', async () => {
  const first = await fixture.read('?limit=4', customer)
  expect(idsIn(first)).toEqual(wanted(6, 5, 4, 3))
  const pagination = Object(first.body['pagination'])
  expect(pagination).toMatchObject({ total: 6, limit: 4, offset: 0, has_more: true })
  const cursor = String(pagination.next_cursor)
  const second = await fixture.read(`?limit=4&cursor=${cursor}`, customer)
  expect(idsIn(second)).toEqual(wanted(2, 1))
  expect(second.body['pagination']).toMatchObject({ has_more: false, next_cursor: null })
  expect(idsIn(await fixture.read('?limit=1&offset=2', customer))).toEqual(wanted(4))
  const elsewhere = [
    await fixture.read(`?limit=4&status=error&cursor=${cursor}`, customer),
    await fixture.read(`?limit=4&cursor=${cursor}`, other),
  ]
  for (const answer of elsewhere) {
    expect(problem(answer)).toEqual([400, 'invalid_request', 'cursor', 'bad_format'])
  }
})

test('sums cover the last 30 days by default', async () => {
  const { body } = await fixture.read('/stats', customer)
  const period = Object(body['period'])
  expect(Date.parse(period.end) - Date.parse(period.start)).toBe(30 * 86_400_000)
  expect(body).toMatchObject({
    total_requests: 5,
    successful_requests: 2,
    failed_requests: 2,
    cancelled_requests: 1,
    success_rate: 50,
    total_tokens: 30,
    input_tokens: 20,
    output_tokens: 10,
    total_cost: 3,
    avg_latency_ms: 600,
    p50_latency_ms: 300,
    p95_latency_ms: 900,
    p50_time_to_first_token_ms: 40,
    p95_time_to_first_token_ms: 40,
    by_model: [
      { model: 'fake/a', requests: 4, input_tokens: 10, output_tokens: 5, cost: 1 },
      { model: 'fake/b', requests: 1, input_tokens: 10, output_tokens: 5, cost: 2 },
    ],
    by_provider: [
      { provider: 'fake', requests: 4, input_tokens: 10, output_tokens: 5, cost: 1 },
      { provider: 'else', requests: 1, input_tokens: 10, output_tokens: 5, cost: 2 },
    ],
    by_key: [
      { api_key_id: customer.keyId, requests: 4, input_tokens: 10, output_tokens: 5, cost: 2 },
      { api_key_id: 'key_other', requests: 1, input_tokens: 10, output_tokens: 5, cost: 1 },
    ],
    by_error: [{ code: 'provider_error', count: 2 }],
  })
  const all = await fixture.read(`/stats?start_date=${isoAt(24 * 50)}`, customer)
  expect(all.body).toMatchObject({ total_requests: 6, total_cost: 4 })
  const none = await fixture.read('/stats?model=none/such', customer)
  expect(none.body).toMatchObject({
    total_requests: 0,
    success_rate: null,
    avg_latency_ms: null,
    p50_latency_ms: null,
    p95_latency_ms: null,
    p50_time_to_first_token_ms: null,
    avg_overhead_ms: null,
    p95_overhead_ms: null,
    by_key: [],
    by_model: [],
  })
})

test('time not spent on providers counts as the service’s own', async () => {
  const { sql } = fixture
  const caller = await fixture.rig.gateway.customer()
  const times = [
    { latency: 42, attemptMs: 30 },
    { latency: 25, attemptMs: 20 },
    // Rounded, so that an attempt can seem longer than its request.
    { latency: 10, attemptMs: 11 },
  ]
  for (const { latency, attemptMs } of times) {
    const answer = await fixture.chat('ok', {}, caller)
    expect(answer.status).toBe(200)
    const { id } = await fixture.logOf(answer, caller)
    await eventually(async () => {
      const booked = await sql`
        update usage_event set duration_ms = ${attemptMs} where request_id = ${id} returning id`
      return booked.length === 1
    })
    await sql`update request_log set latency_ms = ${latency} where id = ${id}`
  }
  // Of this one no attempt is known.
  await insert(day(1), 7, { user_id: caller.userId, latency_ms: 5000 })
  const { body } = await fixture.read('/stats', caller)
  expect(body).toMatchObject({
    total_requests: 4,
    avg_overhead_ms: 5.67,
    p95_overhead_ms: 12,
    p95_latency_ms: 5000,
  })
})

const wrong: [string, string, string][] = [
  ['?status=fine', 'status', 'unknown_value'],
  ['?start_date=yesterday', 'start_date', 'bad_format'],
  ['?end_date=2026-13-01', 'end_date', 'bad_format'],
  ['?start_date=2026-02-02&end_date=2026-01-01', 'start_date', 'out_of_range'],
  ['?min_latency=-1', 'min_latency', 'out_of_range'],
  ['?max_latency=fast', 'max_latency', 'wrong_type'],
  ['?limit=101', 'limit', 'out_of_range'],
  ['?offset=10001', 'offset', 'out_of_range'],
  ['?cursor=x', 'cursor', 'bad_format'],
]

test.each(wrong)('%s is rejected', async (query, param, issue) => {
  const expected = [400, 'invalid_request', param, issue]
  expect(problem(await fixture.read(query, customer))).toEqual(expected)
  if (!['limit', 'offset', 'cursor'].includes(param)) {
    expect(problem(await fixture.read(`/stats${query}`, customer))).toEqual(expected)
  }
})

test('a log of another account is 404, like an unknown one', async () => {
  const own = await fixture.read(`/${ids[2]}`, customer)
  expect(own.body).toMatchObject({ id: ids[2] ?? '', total_tokens: 15, cost: 2 })
  const absent = [404, 'resource_not_found', null]
  for (const rest of ['', '/details']) {
    expect((await fixture.read(`/${ids[2]}${rest}`, customer)).status).toBe(200)
    expect(problem(await fixture.read(`/${ids[2]}${rest}`, other))).toEqual(absent)
    expect(problem(await fixture.read(`/req_x${rest}`, other))).toEqual(absent)
    expect(problem(await fixture.read(`/${idAt(day(3), 9)}${rest}`, other))).toEqual(absent)
  }
  expect(idsIn(await fixture.read('', other))).toEqual([])
  expect((await fixture.read('/stats', other)).body).toMatchObject({ total_requests: 0 })
})

test('reading needs `read`', async () => {
  const writer = await fixture.rig.gateway.customer({ permissions: ['write'] })
  for (const rest of ['', '/stats', `/${ids[2]}`, `/${ids[2]}/details`]) {
    const { status, error } = await fixture.read(rest, writer)
    expect([status, error.code]).toEqual([403, 'insufficient_permissions'])
  }
})

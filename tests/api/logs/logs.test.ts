import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn, createFixture, userAgent, type Fixture } from './fixture'
import { sendRequest, sendRaw, messages } from '../../harness/http'
import { findBooked, reportedCost, requestIdOf } from '../../harness/ledger'
import type { Customer } from '../../harness/server'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const newCustomer = (key = {}, user = {}): Promise<Customer> =>
  fixture.rig.gateway.customer({ permissions: ['admin'], ...key }, user)

test('a plain request has a log with all that the contract names, as soon as it is answered', async () => {
  const begunMs = Date.now()
  const fields = { user: 'somebody \u0000\ud800', metadata: { task: 'a test' } }
  const answer = await fixture.chat('ok', fields)
  expect(answer.status).toBe(200)
  const log = await fixture.logOf(answer)
  const { prompt_tokens, completion_tokens, total_tokens } = Object(answer.body['usage'])
  expect(log).toMatchObject({
    id: answer.headers.get('x-request-id') ?? '',
    model: 'fake/ok',
    requested_model: 'fake/ok',
    provider: 'fake',
    status: 'success',
    status_code: 200,
    input_tokens: prompt_tokens,
    output_tokens: completion_tokens,
    total_tokens,
    cost: Number(reportedCost(answer)) / 1e9,
    billing_mode: 'platform',
    api_key_prefix: fixture.customer.key.slice(0, 12),
    method: 'POST',
    endpoint: '/v1/chat/completions',
    stream: false,
    api_key_id: fixture.customer.keyId,
    error: null,
    finish_reason: 'stop',
    gateway_type: 2,
    organization_id: null,
    time_to_first_token_ms: null,
    user: 'somebody \ufffd',
    metadata: { task: 'a test' },
    ip_address: '127.0.0.1',
    user_agent: userAgent,
    platform_fee: 0,
    provider_revenue: Number(reportedCost(answer)) / 1e9,
    estimated: false,
  })
  expect(String(log['connection_id'])).toStartWith('conn_')
  expect(log['latency_ms']).toBeGreaterThanOrEqual(0)
  expect(Date.parse(String(log['created_at']))).toBeWithin(begunMs, Date.now() + 1)
})

test('a stream has one too, with the time to its first token', async () => {
  const answer = await fixture.stream('chunks-6')
  expect(answer.isDone).toBe(true)
  const log = await fixture.logOf(answer)
  expect(log).toMatchObject({ status: 'success', stream: true, finish_reason: 'stop' })
  expect(log['cost']).toBeGreaterThan(0)
  expect(log['time_to_first_token_ms']).toBeLessThanOrEqual(Number(log['latency_ms']))
})

test('legacy completions, endpoints without a text and other formats are logged as well; counting tokens is not', async () => {
  const { post, logOf } = fixture
  const account = await newCustomer()
  const ask = (path: string, body: object) => post({ ...body }, { path, as: account })
  const text = await ask('/v1/completions', { model: 'sandbox/echo', prompt: 'Once' })
  const embedded = await ask('/v1/embeddings/', { model: 'sandbox/embedding', input: 'Once' })
  const judged = await ask('/v1/moderations', { input: 'Once' })
  const ranking = { model: 'sandbox/rerank', query: 'Once', documents: ['Once', 'Twice'] }
  const ranked = await ask('/v2/rerank', ranking)
  const spoken = await ask('/v1/audio/speech', { model: 'sandbox/speech', input: 'Once' })
  const message = { model: 'sandbox/echo', messages, max_tokens: 16 }
  const messagesAnswer = await ask('/v1/messages', message)
  const responded = await ask('/v1/responses', { model: 'sandbox/echo', input: 'Hello' })
  const counted = await ask('/v1/messages/count_tokens', { model: 'sandbox/echo', messages })
  const logged = [text, embedded, judged, ranked, spoken, messagesAnswer, responded]
  for (const { status } of [...logged, counted]) expect(status).toBe(200)
  const logs = await Promise.all(logged.map((answer) => logOf(answer, account)))
  const fields = ['endpoint', 'status', 'finish_reason', 'billing_mode']
  const endpoints = logs.map((log) => fields.map((name) => log[name]))
  expect(endpoints).toEqual([
    ['/v1/completions', 'success', 'stop', 'free'],
    ['/v1/embeddings', 'success', null, 'free'],
    ['/v1/moderations', 'success', null, 'free'],
    ['/v2/rerank', 'success', null, 'free'],
    ['/v1/audio/speech', 'success', null, 'free'],
    ['/v1/messages', 'success', 'stop', 'free'],
    ['/v1/responses', 'success', 'stop', 'free'],
  ])
  const { body } = await fixture.read('', account)
  expect(body['pagination']).toMatchObject({ total: 7 })
})

test('a provider’s failure is logged as an error, whole, as a stream, and within one', async () => {
  const whole = await fixture.chat('status-500')
  expect(whole.status).toBe(502)
  expect(await fixture.logOf(whole)).toMatchObject({
    status: 'error',
    status_code: 502,
    provider: 'fake',
    cost: 0,
    finish_reason: null,
    error: { type: whole.error.type, code: whole.error.code, message: whole.error.message },
  })
  const early = await fixture.chat('status-500', { stream: true })
  expect(await fixture.logOf(early)).toMatchObject({ status: 'error', stream: true })
  const broken = await fixture.stream('err-after')
  expect(broken.isDone).toBe(false)
  expect(await fixture.logOf(broken)).toMatchObject({
    status: 'error',
    error: { code: broken.error.code },
  })
})

test('logs a client that disconnects as cancelled, with the output so far', async () => {
  const account = await newCustomer()
  const body = { model: await fixture.rig.model('stall-after'), messages, stream: true }
  const client = await sendRaw(fixture.rig.gateway, { key: account.key, body })
  await client.until((received) => /"content":"[^"]/.test(received.toString()))
  client.close()
  const logs = await eventuallyReads(
    async () => listIn(await fixture.read('', account), 'logs'),
    ({ length }) => length > 0,
  )
  expect(logs).toHaveLength(1)
  expect(logs[0]).toMatchObject({ status: 'cancelled', status_code: 499, provider: 'fake' })
  expect(logs[0]?.['output_tokens']).toBeGreaterThan(0)
})

test('a repeat under an Idempotency-Key has the id, and so the log, of the first', async () => {
  const account = await newCustomer()
  const body = { model: 'sandbox/echo', messages }
  const { gateway } = fixture.rig
  const send = () =>
    gateway.recorder.fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'once',
      },
      body: JSON.stringify(body),
    })
  const [first, second] = [await send(), await send()]
  expect(second.headers.get('x-idempotent-replay')).toBe('true')
  await fixture.logOf(first, account)
  const logs = listIn(await fixture.read('', account), 'logs')
  expect(logs.map(({ id }) => id)).toEqual([first.headers.get('x-request-id')])
})

test('the details list the providers tried before the successful one', async () => {
  const { rig, customer } = fixture
  const { gateway } = rig
  const made = await gateway.recorder.fetch(`${gateway.url}/api/user/model-collections`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'two',
      routing_strategy: 'priority',
      members: [{ model_id: await rig.model('429') }, { model_id: await rig.model('ok') }],
    }),
  })
  expect(made.status).toBe(201)
  const answer = await fixture.post({ model: 'collection/two', messages })
  expect(answer.status).toBe(200)
  await findBooked(fixture.sql, [requestIdOf(answer)])
  const details = await fixture.detailsOf(answer)
  expect(details).toMatchObject({
    model: 'fake/ok',
    requested_model: 'collection/two',
    request_body: null,
    response_body: null,
    resolution_attempts: {
      summary: {
        total_candidates_tried: 2,
        successful_candidate: { provider: 'fake', model: 'fake/ok' },
        total_duration_ms: details['latency_ms'],
      },
      attempts: [
        { provider: 'fake', model: 'fake/429', status: 'error', error_code: 'provider_error' },
        { provider: 'fake', model: 'fake/ok', status: 'success', error_code: null },
      ],
    },
  })
})

test('one request is one log and is summed once by hour, day, minute and peak', async () => {
  const account = await newCustomer()
  const answers = [
    await fixture.chat('ok', {}, account),
    await fixture.stream('ok', {}, account),
    await fixture.chat('status-500', {}, account),
    await fixture.post({ model: 'no/such', messages }, { as: account }),
  ]
  const { sql } = fixture
  for (const answer of answers) await fixture.logOf(answer, account)
  await findBooked(sql, answers.slice(0, 3).map(requestIdOf))
  const logs = await sql`select * from request_log where user_id = ${account.userId}`
  expect(logs).toHaveLength(answers.length)
  for (const grain of ['hour', 'day']) {
    const [sum] = await sql`
      select sum(requests)::int as requests, sum(successes)::int as successes,
        sum(failures)::int as failures, sum(input_tokens + output_tokens)::int as tokens,
        sum(cost)::text as cost, sum(own_cost)::text as own_cost
      from request_sum where user_id = ${account.userId} and grain = ${grain}`
    const [all] = await sql`
      select sum(input_tokens + output_tokens)::int as tokens, sum(cost)::text as cost
      from request_log where user_id = ${account.userId}`
    expect(sum).toEqual({
      requests: 4,
      successes: 2,
      failures: 2,
      tokens: all.tokens,
      cost: all.cost,
      own_cost: all.cost,
    })
  }
  const named = await sql`
    select distinct model from request_sum where user_id = ${account.userId} order by 1`
  // A name that means nothing is not kept for two years.
  expect(named.map(({ model }: { model: string }) => model)).toEqual([
    '',
    'fake/ok',
    'fake/status-500',
  ])
  const [minutes] = await sql`
    select sum(requests)::int as requests from request_minute where user_id = ${account.userId}`
  expect(minutes.requests).toBe(4)
  const peaks = await sql`select * from request_peak where user_id = ${account.userId}`
  expect(Number(peaks[0]?.requests_per_minute)).toBeGreaterThan(0)
  expect(peaks[0]?.concurrent_requests).toBe(1)
  const [booked] = await sql`
    select sum(cost)::text as cost from usage_event where user_id = ${account.userId}`
  const [all] = await sql`
    select sum(cost)::text as cost from request_log where user_id = ${account.userId}`
  expect(booked.cost).toBe(all.cost)
})

test('requests that run at the same time are counted', async () => {
  const account = await newCustomer()
  const model = await fixture.rig.model('stall-after')
  const clients = []
  for (let count = 0; count < 3; count++) {
    const body = { model, messages, stream: true }
    const client = await sendRaw(fixture.rig.gateway, { key: account.key, body })
    await client.until((received) => received.includes('data: '))
    clients.push(client)
  }
  for (const client of clients) client.close()
  await eventually(async () => listIn(await fixture.read('', account), 'logs').length >= 3)
  const rows = await fixture.sql`
    select concurrent from request_log where user_id = ${account.userId} order by 1`
  expect(rows.map(({ concurrent }: { concurrent: number }) => concurrent)).toEqual([1, 2, 3])
})

test('names that PostgreSQL could not store are booked and logged without the rejected characters', async () => {
  const { gateway } = fixture.rig
  const account = await newCustomer()
  const target = await fixture.rig.model('ok')
  const made = await sendRequest(gateway, {
    path: '/api/user/model-mappings',
    key: account.key,
    body: { source_pattern: 'odd*', target_model: target },
  })
  expect(made.status).toBe(201)
  const answer = await fixture.post(
    { model: 'odd\u0000 name \ud800', messages, metadata: { 'a\u0000': '\ud800', b: 'c' } },
    { as: account },
  )
  expect(answer.status).toBe(200)
  expect(await fixture.logOf(answer, account)).toMatchObject({
    model: 'fake/ok',
    requested_model: 'odd name \ufffd',
    metadata: { a: '\ufffd', b: 'c' },
    status: 'success',
  })
})

test('a log that the database refuses never holds up the booking of usage', async () => {
  const { sql } = fixture
  const account = await newCustomer()
  await sql`
    alter table request_log add constraint refused check (caller_user is distinct from 'refuse me')`
  const refused = await fixture.chat('ok', { user: 'refuse me' }, account)
  const other = await fixture.chat('ok', {}, account)
  expect(await fixture.logOf(other, account)).toMatchObject({ status: 'success' })
  await sql`alter table request_log drop constraint refused`
  const events = await findBooked(sql, [refused, other].map(requestIdOf))
  expect(events).toHaveLength(2)
  const logs = listIn(await fixture.read('', account), 'logs')
  expect(logs.map(({ id }) => id)).toEqual([other.headers.get('x-request-id')])
  expect(refused.status).toBe(200)
})

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { listIn, openStage, userAgent, type Stage } from './stage'
import { ask, askRaw, messages } from '../faults/asking'
import { costTold } from '../money/till'
import type { Customer } from '../rig'

setDefaultTimeout(60_000)

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

const newCustomer = (key = {}, user = {}): Promise<Customer> =>
  stage.rig.gateway.customer({ permissions: ['admin'], ...key }, user)

test('a plain request has a log with all that the contract names, as soon as it is answered', async () => {
  const fields = { user: 'somebody \u0000\ud800', metadata: { task: 'a test' } }
  const answer = await stage.chat('ok', fields)
  expect(answer.status).toBe(200)
  const log = await stage.logOf(answer)
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
    cost: Number(costTold(answer)) / 1e9,
    billing_mode: 'platform',
    api_key_prefix: stage.customer.key.slice(0, 12),
    method: 'POST',
    endpoint: '/v1/chat/completions',
    stream: false,
    api_key_id: stage.customer.keyId,
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
    provider_revenue: Number(costTold(answer)) / 1e9,
    estimated: false,
  })
  expect(String(log['connection_id'])).toStartWith('conn_')
  expect(log['latency_ms']).toBeGreaterThanOrEqual(0)
  expect(Math.abs(Date.now() - Date.parse(String(log['created_at'])))).toBeLessThan(60_000)
})

test('a stream has one too, with the time to its first token', async () => {
  const answer = await stage.stream('chunks-6')
  expect(answer.isDone).toBe(true)
  const log = await stage.logOf(answer)
  expect(log).toMatchObject({ status: 'success', stream: true, finish_reason: 'stop' })
  expect(log['cost']).toBeGreaterThan(0)
  expect(log['time_to_first_token_ms']).toBeLessThanOrEqual(Number(log['latency_ms']))
})

test('legacy completions, embeddings and other formats are logged as well; counting tokens is not', async () => {
  const { post, logOf } = stage
  const somebody = await newCustomer()
  const ask = (path: string, body: object) => post({ ...body }, { path, as: somebody })
  const text = await ask('/v1/completions', { model: 'sandbox/echo', prompt: 'Once' })
  const embedded = await ask('/v1/embeddings/', { model: 'sandbox/embedding', input: 'Once' })
  const message = { model: 'sandbox/echo', messages, max_tokens: 16 }
  const told = await ask('/v1/messages', message)
  const responded = await ask('/v1/responses', { model: 'sandbox/echo', input: 'Hello' })
  const counted = await ask('/v1/messages/count_tokens', { model: 'sandbox/echo', messages })
  expect([text, embedded, told, responded, counted].map(({ status }) => status)).toEqual(
    Array.from({ length: 5 }, () => 200),
  )
  const endpoints = []
  for (const answer of [text, embedded, told, responded]) {
    const { endpoint, status, finish_reason, billing_mode } = await logOf(answer, somebody)
    endpoints.push([endpoint, status, finish_reason, billing_mode])
  }
  expect(endpoints).toEqual([
    ['/v1/completions', 'success', 'stop', 'free'],
    ['/v1/embeddings', 'success', null, 'free'],
    ['/v1/messages', 'success', 'stop', 'free'],
    ['/v1/responses', 'success', 'stop', 'free'],
  ])
  const { body } = await stage.read('', somebody)
  expect(body['pagination']).toMatchObject({ total: 4 })
})

test('what a provider fails at is an error, whole, as a stream, and within one', async () => {
  const whole = await stage.chat('status-500')
  expect(whole.status).toBe(502)
  expect(await stage.logOf(whole)).toMatchObject({
    status: 'error',
    status_code: 502,
    provider: 'fake',
    cost: 0,
    finish_reason: null,
    error: { type: whole.error.type, code: whole.error.code, message: whole.error.message },
  })
  const early = await stage.chat('status-500', { stream: true })
  expect(await stage.logOf(early)).toMatchObject({ status: 'error', stream: true })
  const broken = await stage.stream('err-after')
  expect(broken.isDone).toBe(false)
  expect(await stage.logOf(broken)).toMatchObject({
    status: 'error',
    error: { code: broken.error.code },
  })
})

test('a caller who leaves is logged as cancelled, with what was produced', async () => {
  const somebody = await newCustomer()
  const body = { model: await stage.rig.model('stall-after'), messages, stream: true }
  const client = await askRaw(stage.rig.gateway, { key: somebody.key, body })
  await client.until((received) => /"content":"[^"]/.test(received.toString()))
  client.close()
  let logs = listIn(await stage.read('', somebody), 'logs')
  for (let tries = 0; logs.length === 0 && tries < 200; tries++) {
    await Bun.sleep(50)
    logs = listIn(await stage.read('', somebody), 'logs')
  }
  expect(logs).toHaveLength(1)
  expect(logs[0]).toMatchObject({ status: 'cancelled', status_code: 499, provider: 'fake' })
  expect(logs[0]?.['output_tokens']).toBeGreaterThan(0)
})

test('a repeat under an Idempotency-Key has the id, and so the log, of the first', async () => {
  const somebody = await newCustomer()
  const body = { model: 'sandbox/echo', messages }
  const { gateway } = stage.rig
  const send = () =>
    gateway.recorder.fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${somebody.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'once',
      },
      body: JSON.stringify(body),
    })
  const [first, second] = [await send(), await send()]
  expect(second.headers.get('x-idempotent-replay')).toBe('true')
  const logs = listIn(await stage.read('', somebody), 'logs')
  expect(logs.map(({ id }) => id)).toEqual([first.headers.get('x-request-id')])
})

test('who was asked before the one that answered is told in the details', async () => {
  const { rig, customer } = stage
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
  const answer = await stage.post({ model: 'collection/two', messages })
  expect(answer.status).toBe(200)
  const details = await stage.detailsOf(answer)
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
  const somebody = await newCustomer()
  const answers = [
    await stage.chat('ok', {}, somebody),
    await stage.stream('ok', {}, somebody),
    await stage.chat('status-500', {}, somebody),
    await stage.post({ model: 'no/such', messages }, { as: somebody }),
  ]
  await stage.read('', somebody)
  const { sql } = stage
  const logs = await sql`select * from request_log where user_id = ${somebody.userId}`
  expect(logs).toHaveLength(answers.length)
  for (const grain of ['hour', 'day']) {
    const [sum] = await sql`
      select sum(requests)::int as requests, sum(successes)::int as successes,
        sum(failures)::int as failures, sum(input_tokens + output_tokens)::int as tokens,
        sum(cost)::text as cost, sum(own_cost)::text as own_cost
      from request_sum where user_id = ${somebody.userId} and grain = ${grain}`
    const [all] = await sql`
      select sum(input_tokens + output_tokens)::int as tokens, sum(cost)::text as cost
      from request_log where user_id = ${somebody.userId}`
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
    select distinct model from request_sum where user_id = ${somebody.userId} order by 1`
  // A name that means nothing is not kept for two years.
  expect(named.map(({ model }: { model: string }) => model)).toEqual([
    '',
    'fake/ok',
    'fake/status-500',
  ])
  const [minutes] = await sql`
    select sum(requests)::int as requests from request_minute where user_id = ${somebody.userId}`
  expect(minutes.requests).toBe(4)
  const peaks = await sql`select * from request_peak where user_id = ${somebody.userId}`
  expect(Number(peaks[0]?.requests_per_minute)).toBeGreaterThan(0)
  expect(peaks[0]?.concurrent_requests).toBe(1)
  const booked = await sql`
    select count(*)::int as events, sum(cost)::text as cost from usage_event
    where user_id = ${somebody.userId}`
  const [all] = await sql`
    select sum(cost)::text as cost from request_log where user_id = ${somebody.userId}`
  expect(booked[0].cost).toBe(all.cost)
})

test('requests that run at the same time are counted', async () => {
  const somebody = await newCustomer()
  const model = await stage.rig.model('stall-after')
  const clients = []
  for (let count = 0; count < 3; count++) {
    const body = { model, messages, stream: true }
    const client = await askRaw(stage.rig.gateway, { key: somebody.key, body })
    await client.until((received) => received.includes('data: '))
    clients.push(client)
  }
  for (const client of clients) client.close()
  let known = 0
  for (let tries = 0; known < 3 && tries < 200; tries++) {
    known = listIn(await stage.read('', somebody), 'logs').length
    await Bun.sleep(50)
  }
  const rows = await stage.sql`
    select concurrent from request_log where user_id = ${somebody.userId} order by 1`
  expect(rows.map(({ concurrent }: { concurrent: number }) => concurrent)).toEqual([1, 2, 3])
})

test('names that PostgreSQL could not keep are booked and logged without what it refuses', async () => {
  const { gateway } = stage.rig
  const somebody = await newCustomer()
  const target = await stage.rig.model('ok')
  const made = await ask(gateway, {
    path: '/api/user/model-mappings',
    key: somebody.key,
    body: { source_pattern: 'odd*', target_model: target },
  })
  expect(made.status).toBe(201)
  const answer = await stage.post(
    { model: 'odd\u0000 name \ud800', messages, metadata: { 'a\u0000': '\ud800', b: 'c' } },
    { as: somebody },
  )
  expect(answer.status).toBe(200)
  expect(await stage.logOf(answer, somebody)).toMatchObject({
    model: 'fake/ok',
    requested_model: 'odd name \ufffd',
    metadata: { a: '\ufffd', b: 'c' },
    status: 'success',
  })
})

test('a log that the database refuses never holds up the booking of usage', async () => {
  const { sql } = stage
  const somebody = await newCustomer()
  await sql`
    alter table request_log add constraint refused check (caller_user is distinct from 'refuse me')`
  const refused = await stage.chat('ok', { user: 'refuse me' }, somebody)
  const other = await stage.chat('ok', {}, somebody)
  expect(await stage.logOf(other, somebody)).toMatchObject({ status: 'success' })
  await sql`alter table request_log drop constraint refused`
  const events = await sql`
    select request_id, cost from usage_event where user_id = ${somebody.userId}`
  expect(events).toHaveLength(2)
  const logs = listIn(await stage.read('', somebody), 'logs')
  expect(logs.map(({ id }) => id)).toEqual([other.headers.get('x-request-id')])
  expect(refused.status).toBe(200)
})

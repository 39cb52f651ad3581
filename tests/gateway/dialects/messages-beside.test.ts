import { NotFoundError } from '@anthropic-ai/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  failureOf,
  messages,
  path,
  createMessagesFixture,
  type MessagesFixture,
} from './messages-fixture'
import { sendRequest, type RequestOptions } from '../../harness/http'
import { findBookedOnce, priceOf } from '../../harness/ledger'

let it: MessagesFixture

beforeAll(async () => {
  it = await createMessagesFixture()
})
afterAll(() => it[Symbol.asyncDispose]())
afterEach(() => it.verify())

describe('money and repeats', () => {
  test('whole and streamed are charged once, at the price of a chat', async () => {
    const model = await it.rig.model('ok')
    for (const stream of [false, true]) {
      const answer = await it.post({ model, stream })
      const booked = await findBookedOnce(it.sql, answer)
      expect(booked).toMatchObject({ outcome: 'ok', inputTokens: 2, outputTokens: 10 })
      expect(booked.cost).toBe(priceOf(2, 10))
    }
  })

  test('a repeat under the same key receives the same bytes, whole and streamed', async () => {
    const model = await it.rig.model('ok')
    for (const stream of [false, true]) {
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const first = await it.post({ model, stream }, { headers })
      const again = await it.post({ model, stream }, { headers })
      expect(again.text).toBe(first.text)
      expect(again.headers.get('x-idempotent-replay')).toBe('true')
      expect(again.headers.get('request-id')).toBe(first.headers.get('request-id'))
    }
    expect(it.rig.upstream.requests()).toHaveLength(2)
  })

  test('a kept failure is kept in its words', async () => {
    const model = await it.rig.model('status-500')
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const first = await it.post({ model }, { headers })
    const again = await it.post({ model }, { headers })
    expect(again.body).toEqual(first.body)
    expect(again.body).toMatchObject({ type: 'error' })
    expect(again.headers.get('x-idempotent-replay')).toBe('true')
  })
})

describe('count_tokens', () => {
  const count = { path: `${path}/count_tokens` }

  test('an estimate that costs nothing', async () => {
    const model = await it.rig.model('ok')
    const short = await it.client.messages.countTokens({ model, messages })
    const system = 'word '.repeat(1000)
    const long = await it.client.messages.countTokens({ model, messages, system })
    expect(short.input_tokens).toBeGreaterThan(2)
    expect(short.input_tokens).toBeLessThan(30)
    expect(long.input_tokens - short.input_tokens).toBeWithin(900, 1300)
    expect(it.rig.upstream.requests()).toEqual([])
    const poor = it.clientOf(await it.rig.gateway.customer({}, { credit: 0 }))
    const free = await poor.messages.countTokens({ model, messages })
    expect(free.input_tokens).toBeGreaterThan(2)
  })

  test('requires a key that may write, an existing model, and valid fields', async () => {
    const model = await it.rig.model('ok')
    const reader = await it.rig.gateway.customer({ permissions: ['read'] })
    const body = { model, messages }
    const cases: [Partial<RequestOptions>, number][] = [
      [{ body }, 401],
      [{ key: reader.key, body }, 403],
      [{ key: it.customer.key, body: { ...body, model: 'fake/nothing' } }, 404],
      [{ key: it.customer.key, body: { model } }, 400],
    ]
    for (const [fields, status] of cases) {
      const answer = await sendRequest(it.rig.gateway, { ...count, ...fields })
      expect(answer.status).toBe(status)
      expect(answer.body).toMatchObject({ type: 'error' })
    }
  })

  test('counts in the limits of its caller', async () => {
    const model = await it.rig.model('ok')
    const plan = await it.rig.gateway.admin('POST', '/plans', {
      name: 'one',
      requests_per_minute: 1,
    })
    const limited = await it.rig.gateway.customer({}, { plan_id: plan['id'] })
    const body = { model, messages }
    const first = await sendRequest(it.rig.gateway, { ...count, key: limited.key, body })
    expect(first.headers.get('x-ratelimit-remaining')).toBe('0')
    const second = await sendRequest(it.rig.gateway, { ...count, key: limited.key, body })
    expect(second).toMatchObject({ status: 429, body: { error: { type: 'rate_limit_error' } } })
    expect(second.headers.get('retry-after')).not.toBeNull()
  })
})

describe('models', () => {
  test('finding D5: the client lists them, and reads one, with lengths and capabilities', async () => {
    const id = await it.rig.model('ok')
    const ids: string[] = []
    for await (const model of it.client.models.list()) ids.push(model.id)
    expect(ids).toContain(id)
    const one = await it.client.models.retrieve(id)
    expect(one).toMatchObject({
      type: 'model',
      id,
      display_name: 'ok',
      max_input_tokens: expect.any(Number),
      max_tokens: expect.any(Number),
      lifecycle: 'active',
      retires_at: null,
      capabilities: { thinking: { supported: expect.any(Boolean) } },
    })
    expect((await it.client.models.list()).data.find((model) => model.id === id)).toEqual(one)
    expect(new Date(one.created_at).getTime()).toBeGreaterThan(0)
    const failure = await failureOf(it.client.models.retrieve('fake/nothing'))
    expect(failure).toBeInstanceOf(NotFoundError)
  })

  test('without anthropic-version the list is the one of OpenAI', async () => {
    const headers = { 'x-api-key': it.customer.key }
    const list = await sendRequest(it.rig.gateway, { path: '/v1/models', method: 'GET', headers })
    expect(list.body).toMatchObject({ object: 'list' })
    const missing = await sendRequest(it.rig.gateway, {
      path: '/v1/models/fake/x',
      method: 'GET',
      headers,
    })
    expect(missing.error).toMatchObject({ code: 'model_not_found' })
  })
})

describe('x-api-key', () => {
  const body = { model: 'sandbox/echo', messages }

  test('is a key for every endpoint of models', async () => {
    const headers = { 'x-api-key': it.customer.key }
    const chat = await sendRequest(it.rig.gateway, { headers, body })
    expect(chat.status).toBe(200)
    const wrong = await sendRequest(it.rig.gateway, { headers: { 'x-api-key': 'sk-1' }, body })
    expect(wrong.error).toMatchObject({ code: 'invalid_api_key' })
    const empty = await sendRequest(it.rig.gateway, { headers: { 'x-api-key': '' }, body })
    expect(empty.error).toMatchObject({ code: 'missing_api_key' })
  })

  test('a bearer token counts before it, any other scheme does not', async () => {
    const wrong = { authorization: 'Bearer sk-1', 'x-api-key': it.customer.key }
    expect((await sendRequest(it.rig.gateway, { headers: wrong, body })).status).toBe(401)
    const right = { authorization: `Bearer ${it.customer.key}`, 'x-api-key': 'sk-1' }
    expect((await sendRequest(it.rig.gateway, { headers: right, body })).status).toBe(200)
    const basic = { authorization: 'Basic eDp5', 'x-api-key': it.customer.key }
    expect((await sendRequest(it.rig.gateway, { headers: basic, body })).status).toBe(200)
  })

  test('is ignored outside of /v1', async () => {
    const headers = { 'x-api-key': it.rig.gateway.adminKey }
    const users = await sendRequest(it.rig.gateway, {
      path: '/api/admin/users',
      method: 'GET',
      headers,
    })
    expect(users.status).toBe(404)
  })
})

import type Anthropic from '@anthropic-ai/sdk'
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
} from '@anthropic-ai/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  baseRequest,
  failureOf,
  messages,
  path,
  createMessagesFixture,
  type MessagesFixture,
} from './messages-fixture'
import { sendRequest, sendRaw, type Json } from '../../harness/http'
import { parseResponse } from '../../harness/raw-client'

let it: MessagesFixture

beforeAll(async () => {
  it = await createMessagesFixture()
})
afterAll(() => it[Symbol.asyncDispose]())
afterEach(() => it.verify())

describe('errors are in Anthropic’s format, with the statuses of all endpoints', () => {
  test('each class of the client', async () => {
    const model = await it.rig.model('ok')
    const stranger = it.clientOf({ ...it.customer, key: 'sk-ant-nobody' })
    const reader = it.clientOf(await it.rig.gateway.customer({ permissions: ['read'] }))
    const poor = it.clientOf(await it.rig.gateway.customer({}, { credit: 0 }))
    const cases: [Anthropic, Json, new (...given: never[]) => Error, string][] = [
      [stranger, { model }, AuthenticationError, 'authentication_error'],
      [reader, { model }, PermissionDeniedError, 'permission_error'],
      [it.client, { model: 'fake/nothing' }, NotFoundError, 'not_found_error'],
      [it.client, { model: 'nothing' }, BadRequestError, 'invalid_request_error'],
      [it.client, { model, messages: [] }, BadRequestError, 'invalid_request_error'],
      [it.client, { model, max_tokens: 0 }, BadRequestError, 'invalid_request_error'],
      [poor, { model }, APIError, 'billing_error'],
    ]
    for (const [who, fields, kind, type] of cases) {
      const body = { ...baseRequest, model, ...fields }
      const failure = await failureOf(who.post(path, { body }))
      expect(failure).toBeInstanceOf(kind)
      expect(failure.error).toMatchObject({ type: 'error', error: { type } })
      expect(failure.requestID).toMatch(/^req_/)
    }
  })

  test.each([
    ['status-500', 502, 'api_error'],
    ['status-503', 503, 'overloaded_error'],
    ['field-error', 400, 'invalid_request_error'],
    ['429-7', 503, 'overloaded_error'],
    ['context-error', 400, 'invalid_request_error'],
  ])('a provider that answers %s: %i', async (name, status, type) => {
    const model = await it.rig.model(name)
    for (const stream of [false, true]) {
      const fields = { model, messages, stream, temperature: 0.5 }
      const answer = await it.post(fields)
      const chat = await sendRequest(it.rig.gateway, { key: it.customer.key, body: fields })
      expect(answer.status).toBe(chat.status)
      expect(answer.status).toBe(status)
      expect(answer.body).toEqual({
        type: 'error',
        error: { type, message: expect.any(String) },
        request_id: answer.headers.get('x-request-id') ?? '',
      })
      expect(answer.headers.get('request-id')).toBe(answer.headers.get('x-request-id'))
      expect(answer.headers.get('retry-after')).toBe(chat.headers.get('retry-after'))
    }
  })

  test('an overlong prompt has the words that agents know', async () => {
    const long = [{ role: 'user', content: 'word '.repeat(400_000) }]
    const { status, body } = await it.post({ model: await it.rig.model('ok'), messages: long })
    expect(status).toBe(400)
    expect(body['error']).toMatchObject({
      message: expect.stringMatching(/^prompt is too long: \d+ tokens > 8192 maximum$/),
    })
  })

  test.each(['{"model":', '[]', ''])('a body that is not a JSON object: %p', async (body) => {
    const answer = await sendRequest(it.rig.gateway, { path, key: it.customer.key, body })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
  })

  test('a body that is too large, and one of another type', async () => {
    const body = `{"system":"${'a'.repeat(33 * 1024 * 1024)}"}`
    const large = await sendRequest(it.rig.gateway, { path, key: it.customer.key, body })
    expect(large).toMatchObject({ status: 413, body: { type: 'error' } })
    expect(large.body['error']).toMatchObject({ type: 'request_too_large' })
    const plain = await it.post({}, { headers: { 'content-type': 'text/plain' } })
    expect(plain).toMatchObject({ status: 400, body: { type: 'error' } })
  })

  test('a path that does not exist, and a base URL with /v1 too much', async () => {
    const batches = await sendRequest(it.rig.gateway, {
      path: '/v1/messages/batches',
      method: 'GET',
    })
    expect(batches).toMatchObject({ status: 404, body: { error: { type: 'not_found_error' } } })
    const get = await sendRequest(it.rig.gateway, { path, method: 'GET', key: it.customer.key })
    expect(get).toMatchObject({ status: 404, body: { type: 'error' } })
    const twice = await sendRequest(it.rig.gateway, { path: '/v1/v1/messages', body: {} })
    expect(twice.body).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('ends before /v1') },
    })
  })

  test('rejects an unreadable request in the same format', async () => {
    using raw = await sendRaw(it.rig.gateway, { path, headers: { host: 'a b' }, body: '{}' })
    await raw.until((received) => parseResponse(received) !== undefined)
    expect(String(raw.received)).toContain('"type":"error"')
  })

  test('other endpoints keep their own', async () => {
    const headers = { 'anthropic-version': '2023-06-01' }
    const chat = await sendRequest(it.rig.gateway, { key: it.customer.key, body: {}, headers })
    expect(chat.error).toMatchObject({ code: 'invalid_request', param: 'model' })
    expect(chat.headers.get('request-id')).toBeNull()
  })
})

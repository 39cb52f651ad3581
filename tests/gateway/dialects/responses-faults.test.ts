import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { eventsIn, lastResponse, typesOf } from './response-events'
import {
  errorOf,
  failureOf,
  jsonOf,
  createFixture,
  type Json,
  type Fixture,
} from '../../providers/conformance/fixture'
import { sendRequest, sendRaw } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { sendIdempotent, callsOf, readCharge, isReplay, newKey } from '../idempotency/keyed'

const path = '/v1/responses'
const input = 'Say something.'
let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({
    environment: {
      EARLY_HEADERS_SECONDS: '0.2',
      KEEP_ALIVE_SECONDS: '0.3',
      FIRST_BYTE_TIMEOUT_SECONDS: '8',
    },
  })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const bodyOf = async (name: string, fields: Json = {}): Promise<Json> => ({
  model: await fixture.model(name),
  input,
  ...fields,
})
const post = async (name: string, fields: Json = {}) =>
  fixture.post(path, await bodyOf(name, fields))

/** A stream that is read to its end. */
const streamOf = async (name: string) => {
  const response = await post(name, { stream: true })
  return { response, text: await response.text() }
}

describe('rejected', () => {
  const rows: [string, Json, [param: string, issue: string]][] = [
    [
      'an answer that was kept',
      { previous_response_id: 'resp_1' },
      ['previous_response_id', 'not_allowed'],
    ],
    ['a conversation', { conversation: 'conv_1' }, ['conversation', 'not_allowed']],
    [
      'work in the background that is not kept',
      { background: true, store: false },
      ['store', 'conflict'],
    ],
    [
      'a tool of OpenAI',
      { tools: [{ type: 'web_search' }] },
      ['tools.0.type', 'unsupported_by_model'],
    ],
    ['a field of another type', { temperature: 'hot' }, ['temperature', 'wrong_type']],
  ]
  test.each(rows)('%s', async (_what, fields, [param, issue]) => {
    const response = await post('ok', fields)
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_request',
      param,
      details: { issue },
    })
  })

  test('an output limit beyond the model, in the field of the caller', async () => {
    const response = await post('ok', { max_output_tokens: 5000 })
    expect(await errorOf(response)).toMatchObject({
      code: 'max_tokens_exceeded',
      param: 'max_output_tokens',
    })
  })

  test('a body that is not JSON', async () => {
    const { gateway } = fixture.rig
    const { key } = fixture.customer
    const { status, error } = await sendRequest(gateway, { path, key, body: '{' })
    expect([status, error.code, error.details?.['issue']]).toEqual([
      400,
      'invalid_request',
      'invalid_json',
    ])
  })

  test('by classes of the official client', async () => {
    const { client } = fixture
    const asking = (model: string, of = client) => failureOf(of.responses.create({ model, input }))
    const wrongKey = client.withOptions({ apiKey: `${fixture.customer.key}x` })
    const model = await fixture.model('ok')
    expect(await asking(model, wrongKey)).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(await asking('fake/none')).toMatchObject({ status: 404, code: 'model_not_found' })
    const poor = await fixture.rig.gateway.customer({}, { credit: 0 })
    const broke = await asking(model, client.withOptions({ apiKey: poor.key }))
    expect(broke).toMatchObject({ status: 402, code: 'insufficient_credits' })
    const down = await asking(await fixture.model('status-500'))
    expect(down).toMatchObject({ status: 502, code: 'provider_error' })
  })
})

describe('a stream', () => {
  test('is events by name, numbered, and ends with the whole response', async () => {
    const { response, text } = await streamOf('ok')
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(text).not.toContain('[DONE]')
    const types = typesOf(eventsIn(text))
    expect(types.slice(0, 4)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
    ])
    expect(types.slice(-4)).toEqual([
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
  })

  test('ends in response.failed after a break, with its text, and is charged once', async () => {
    const customer = await fixture.rig.gateway.customer()
    const name = 'rst-after-5+bill-sent'
    const body = await bodyOf(name, { stream: true })
    const { text } = await sendRequest(fixture.rig.gateway, { path, key: customer.key, body })
    const events = eventsIn(text)
    expect(events.at(-1)?.['type']).toBe('response.failed')
    expect(lastResponse(events)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', details: { code: 'connection_failed' } },
      output: [{ type: 'message', status: 'incomplete' }],
    })
    const { requests } = await readCharge(fixture.rig.gateway, customer, 1)
    expect(requests).toBe(1)
  })

  test('is a status when it fails before its first event', async () => {
    // Early headers after 0.2 s would be a 200, where a busy machine fails later.
    await using own = await createFixture()
    const model = await own.model('status-500')
    const response = await own.post(path, { model, input, stream: true })
    expect(response.status).toBe(502)
    expect(await errorOf(response)).toMatchObject({ code: 'provider_error' })
    own.verify()
  })

  test('is kept open by comments before its first event, and still ends with the error', async () => {
    const { gateway, upstream } = fixture.rig
    const body = await bodyOf('held-first', { stream: true })
    using client = await sendRaw(gateway, { path, key: fixture.customer.key, body })
    await client.until((received) => received.includes(': ping\n\n'))
    await upstream.releaseHeld()
    const text = (await client.response()).body.toString()
    expect(text).toStartWith(': ping\n\n')
    expect(lastResponse(eventsIn(text))).toMatchObject({ status: 'completed' })
  })

  test('begins although it fails after early headers', async () => {
    const { response, text } = await streamOf('held-first')
    expect(response.status).toBe(200)
    const events = eventsIn(text)
    expect(typesOf(events)).toEqual(['response.created', 'response.in_progress', 'response.failed'])
    expect(lastResponse(events)).toMatchObject({
      output: [],
      error: { code: 'server_error', details: { code: 'request_timeout' } },
    })
  })

  test('ends at the provider when its caller disconnects', async () => {
    const { gateway, upstream } = fixture.rig
    upstream.reset()
    const stream = await fixture.client.responses.create({
      model: await fixture.model('held-5'),
      input,
      stream: true,
    })
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') break
    }
    await eventually(() => upstream.requests()[0]?.closedBy === 'peer')
    expect(gateway.output()).not.toContain('internal_error')
  })
})

test('a client that disconnects before a whole answer cancels it at the provider', async () => {
  const { gateway, upstream } = fixture.rig
  upstream.reset()
  const body = await bodyOf('held-first')
  using client = await sendRaw(gateway, { path, key: fixture.customer.key, body })
  await eventually(() => upstream.requests().length === 1)
  client.close()
  await eventually(() => upstream.requests()[0]?.closedBy === 'peer')
})

test.each([false, true])(
  'M10: a repeat with its key receives the same bytes at no cost, as a stream: %p',
  async (stream) => {
    const { rig } = fixture
    rig.upstream.reset()
    const customer = await rig.gateway.customer()
    const body = await bodyOf('ok', { stream })
    const keyedRequest = { customer, key: newKey(), body, path }
    const first = await sendIdempotent(rig.gateway, keyedRequest)
    const again = await sendIdempotent(rig.gateway, keyedRequest)
    expect([isReplay(first), isReplay(again)]).toEqual([false, true])
    expect(again.text).toBe(first.text)
    expect(first.text).toContain('"status":"completed"')
    expect(callsOf(rig, 'ok')).toHaveLength(1)
    expect((await readCharge(rig.gateway, customer, 1)).requests).toBe(1)
  },
)

const costOf = ({ headers }: Response) => Number(headers.get('x-tollgate-cost'))

test('a request costs the price of the same chat', async () => {
  const model = await fixture.model('ok')
  const messages = [{ role: 'user' as const, content: input }]
  const { response: chat } = await fixture.client.chat.completions
    .create({ model, messages })
    .withResponse()
  const response = await post('ok')
  expect(costOf(response)).toBe(costOf(chat))
  expect(jsonOf(await response.json())['status']).toBe('completed')
})

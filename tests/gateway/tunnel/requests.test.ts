import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { event, streamOf, type Agent } from '../../harness/tunnel-agent'
import { waitForValue, createGatewayFixture, type GatewayFixture } from './fixture'
import { eventually } from '../../../server/testing/eventually'
import type { Customer } from '../../harness/server'

/** Requests that a self-hosted gateway passes on. */

let fixture: GatewayFixture
let owner: Customer
let agent: Agent

beforeAll(async () => {
  fixture = await createGatewayFixture()
  const served = await fixture.served()
  owner = served.owner
  agent = served.agent
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => {
  fixture.gateway.recorder.verify()
  agent.frames.length = 0
  agent.answer = (request) => agent.whole(request)
})

/** The log of an answer, once it is written. */
async function logOf(id: string | null) {
  const look = () => fixture.api(owner, `GET /account/request-logs/${id}`)
  await waitForValue(async () => (await look()).status, 200)
  return (await look()).body
}

test('a newcomer calls at once, by the unmodified official client', async () => {
  const { choices, usage, model } = await owner.client.chat.completions.create({
    model: 'fake/mine',
    messages: [{ role: 'user', content: 'Hello?' }],
    temperature: 0.5,
  })
  expect(choices[0]?.message.content).toBe('Hello.')
  expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 3 })
  expect(model).toBe('fake/mine')
  expect(agent.seen('request')).toMatchObject([
    {
      provider: 'fake',
      model: 'mine',
      path: '/chat/completions',
      body: { model: 'mine', temperature: 0.5, messages: [{ role: 'user', content: 'Hello?' }] },
      stream: false,
      window: 262_144,
    },
  ])
  expect(Number(agent.seen('request')[0]?.['timeout_ms'])).toBeWithin(500_000, 600_001)
})

test('the log says whose gateway it was, by which connection, and that it was free', async () => {
  const answer = await fixture.chat(owner)
  expect(answer.status).toBe(200)
  const log = await logOf(answer.headers.get('x-request-id'))
  expect(log).toMatchObject({
    gateway_type: 3,
    provider: 'fake',
    model: 'fake/mine',
    billing_mode: 'free',
    cost: 0,
    input_tokens: 5,
    output_tokens: 3,
    connection_id: expect.stringMatching(/^conn_/),
  })
})

test('streams, event by event, in any pieces', async () => {
  agent.answer = (request) => agent.stream(request, streamOf('One', ' two', ' three'))
  const stream = await owner.client.chat.completions.create({
    model: 'fake/mine',
    messages: [{ role: 'user', content: 'Hello?' }],
    stream: true,
    stream_options: { include_usage: true },
  })
  let text = ''
  let tokens: number | undefined
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? ''
    tokens = chunk.usage?.completion_tokens ?? tokens
  }
  expect([text, tokens]).toEqual(['One two three', 3])
  const whole = streamOf('Grüße', ' 🙂').join('')
  agent.answer = (request) => agent.stream(request, [whole.slice(0, 100), whole.slice(100)])
  expect((await fixture.stream(owner)).content).toBe('Grüße 🙂')
})

test('calls tools', async () => {
  const call = { index: 0, id: 'call_1', type: 'function' }
  const parts = [
    event({ tool_calls: [{ ...call, function: { name: 'weather', arguments: '' } }] }),
    event({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Oslo"}' } }] }),
    event({}, { finish_reason: 'tool_calls' }),
    'data: [DONE]\n\n',
  ]
  agent.answer = (request) => agent.stream(request, parts)
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const stream = owner.client.chat.completions.stream({
    model: 'fake/mine',
    messages: [{ role: 'user', content: 'Weather in Oslo?' }],
    tools: [{ type: 'function', function: { name: 'weather', parameters } }],
  })
  const { choices } = await stream.finalChatCompletion()
  expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({
    id: 'call_1',
    function: { name: 'weather', arguments: '{"city":"Oslo"}' },
  })
  expect(agent.seen('request')[0]?.['body']).toMatchObject({ tools: [{ type: 'function' }] })
})

test('embeddings, and chunked answers that are not streams', async () => {
  await fixture.gateway.admin('POST', '/models', {
    id: 'fake/vectors',
    name: 'Vectors',
    category: 'embedding',
    pricing: { input: 1, output: 0 },
  })
  agent.hello({
    version: '1.0.1',
    providers: ['fake'],
    models: [
      { provider: 'fake', name: 'mine' },
      { provider: 'fake', name: 'one' },
      { provider: 'fake', name: 'vectors' },
    ],
    tools: [],
  })
  await eventually(() => agent.seen('welcome').length === 1)
  const data = [{ object: 'embedding', index: 0, embedding: [0.25, 0.5] }]
  const body = { object: 'list', model: 'm', data, usage: { prompt_tokens: 2, total_tokens: 2 } }
  agent.answer = (request) => {
    const text = JSON.stringify(body)
    const headers = { 'content-type': 'application/json' }
    agent.send({ type: 'chunk', id: request.id, data: text.slice(0, 20), headers })
    agent.stream(request, [text.slice(20)])
  }
  const answer = await owner.client.embeddings.create({
    model: 'fake/vectors',
    input: 'Hello.',
    encoding_format: 'float',
  })
  expect(answer.data[0]?.embedding).toEqual([0.25, 0.5])
  expect(agent.seen('request')).toMatchObject([{ path: '/embeddings', stream: false }])
})

const refusal = (message: string) => ({ error: { message, type: 'x', code: null, param: null } })

describe('refusals of the server behind', () => {
  test.each([
    [401, 502, 'provider_error'],
    [404, 502, 'provider_error'],
    [429, 503, 'provider_error'],
    [500, 502, 'provider_error'],
    [503, 503, 'provider_error'],
    [302, 502, 'provider_error'],
  ])('a status of %d is answered with %d, %s', async (status, expected, code) => {
    agent.answer = (request) => agent.whole(request, refusal('No.'), status)
    const answer = await fixture.chat(owner)
    expect([answer.status, answer.error.code]).toEqual([expected, code])
  })

  test('retry-after is passed on, no other header of a gateway is', async () => {
    agent.answer = ({ id }) =>
      agent.send({
        type: 'response',
        id,
        status: 429,
        headers: { 'Retry-After': '7', 'set-cookie': 'a=b', 'content-type': 'application/json' },
        body: JSON.stringify(refusal('Slow down.')),
      })
    const { status, headers } = await fixture.chat(owner)
    expect([status, headers.get('retry-after'), headers.get('set-cookie')]).toEqual([
      503,
      '7',
      null,
    ])
  })

  test.each([
    { code: 'connection_failed', sent: false, expected: [502, 'connection_failed', null] },
    { code: 'not_served', sent: false, expected: [502, 'connection_failed', null] },
    { code: 'overloaded', sent: false, expected: [502, 'connection_failed', null] },
    { code: 'connection_failed', sent: true, expected: [502, 'connection_failed', 'false'] },
    { code: 'internal_error', sent: undefined, expected: [502, 'connection_failed', 'false'] },
    { code: 'request_timeout', sent: true, expected: [504, 'request_timeout', 'false'] },
  ])('an error: $code, sent: $sent', async ({ code, sent, expected }) => {
    agent.answer = (request) => agent.fail(request, code, sent)
    for (const answer of [await fixture.chat(owner), await fixture.stream(owner)]) {
      const { status, error, headers } = answer
      expect([status, error.code ?? '', headers.get('x-should-retry')]).toEqual([...expected])
    }
  })

  test('an error within a stream is its last frame', async () => {
    agent.answer = (request) => {
      agent.send({ type: 'chunk', id: request.id, data: event({ content: 'Hello' }) })
      agent.fail(request, 'connection_failed', false)
    }
    const { status, content, error, isDone } = await fixture.stream(owner)
    expect([status, content, error.code, isDone]).toEqual([
      200,
      'Hello',
      'connection_failed',
      false,
    ])
  })

  test('an invalid answer', async () => {
    agent.answer = ({ id }) => agent.send({ type: 'response', id, status: 200, body: 'Hello.' })
    const { status, error } = await fixture.chat(owner)
    expect([status, error.code]).toEqual([502, 'provider_error'])
  })
})

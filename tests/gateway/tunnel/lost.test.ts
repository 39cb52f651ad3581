import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { completion, event, type Agent } from '../../harness/tunnel-agent'
import {
  waitForValue,
  createGatewayFixture,
  readCutStream,
  statusOf,
  type GatewayFixture,
  type CreatedGateway,
} from './fixture'
import { openDatabase } from '../../harness/database'
import { messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import type { Customer } from '../../harness/server'

/** Callers and gateways that are gone before an answer is. */

let fixture: GatewayFixture
let owner: Customer
let made: CreatedGateway
let agent: Agent

beforeAll(async () => {
  fixture = await createGatewayFixture()
  const served = await fixture.served()
  owner = served.owner
  made = served.createGateway
  agent = served.agent
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => {
  fixture.gateway.recorder.verify()
  agent.frames.length = 0
  agent.answer = (request) => agent.whole(request)
})

describe('a client that disconnects', () => {
  test('in the middle of a stream: the gateway receives a cancellation', async () => {
    agent.answer = ({ id }) => agent.send({ type: 'chunk', id, data: event({ content: 'Hello' }) })
    const stream = await owner.client.chat.completions.create({
      model: 'fake/mine',
      messages: [{ role: 'user', content: 'Hello?' }],
      stream: true,
    })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
    stream.controller.abort()
    await eventually(() => agent.seen('cancel').length === 1)
    expect(agent.seen('cancel')[0]?.id).toBe(agent.seen('request')[0]?.id)
    // What crossed it is no error.
    agent.stream(agent.seen('request')[0] ?? { type: '', id: '' })
    agent.answer = (request) => agent.whole(request)
    expect((await fixture.chat(owner)).status).toBe(200)
  })

  test('before the first of an answer', async () => {
    agent.answer = () => undefined
    const leaving = new AbortController()
    const pending = owner.client.chat.completions.create(
      { model: 'fake/mine', messages: [{ role: 'user', content: 'Hello?' }] },
      { signal: leaving.signal },
    )
    pending.catch(() => undefined)
    await eventually(() => agent.seen('request').length === 1)
    leaving.abort()
    await eventually(() => agent.seen('cancel').length === 1)
  })
})

describe('a gateway that is lost', () => {
  test('in the middle of a stream: the error frame, settled like any cut stream, booked once', async () => {
    agent.answer = ({ id }) =>
      agent.send({ type: 'chunk', id, data: event({ content: 'Hello there, and more' }) })
    const cut = await readCutStream(fixture, {
      by: owner,
      mark: 'and more',
      cut: () => agent.kill(),
    })
    expect([cut.status, cut.error.code, cut.isDone]).toEqual([200, 'connection_failed', false])
    expect(cut.content).toBe('Hello there, and more')
    const id = cut.headers.get('x-request-id')
    const look = () => fixture.api(owner, `GET /account/request-logs/${id}`)
    await waitForValue(async () => (await look()).status, 200)
    const { body: log } = await look()
    expect(log).toMatchObject({ status: 'error', estimated: true, gateway_type: 3 })
    expect(Number(log['output_tokens'])).toBeGreaterThan(0)
    await using sql = await openDatabase(fixture.gateway.dataDir)
    const events = await sql`select outcome from usage_event where request_id = ${id}`
    expect(events).toHaveLength(1)
    await waitForValue(() => statusOf(fixture, owner, made.id), 'offline')
  })

  test('offline: fails without a call, with a retryable error', async () => {
    const { status, error, headers } = await fixture.chat(owner)
    expect([status, error.code]).toEqual([503, 'gateway_unavailable'])
    expect(error.message).toContain('offline')
    expect(headers.get('retry-after')).toBe('2')
  })

  test('before the first of an answer: 502, not to be repeated', async () => {
    agent = await fixture.agent(made).ready()
    agent.answer = () => agent.kill()
    const { status, error, headers } = await fixture.chat(owner)
    expect([status, error.code]).toEqual([502, 'connection_failed'])
    expect(headers.get('x-should-retry')).toBe('false')
    agent = await fixture.agent(made).ready()
    expect((await fixture.chat(owner)).status).toBe(200)
  })
})

test('a request that the platform may serve as well goes there while the gateway is offline', async () => {
  const { owner: customer, agent: theirs } = await fixture.served({
    hello: {
      version: '1',
      providers: ['sandbox'],
      models: [{ provider: 'sandbox', name: 'echo' }],
      tools: [],
    },
  })
  const ask = () => fixture.chat(customer, { model: 'sandbox/echo', messages })
  theirs.answer = (request) => theirs.whole(request, completion('By the gateway.'))
  expect((await ask()).text).toContain('By the gateway.')
  theirs.kill()
  await theirs.closed
  await waitForValue(async () => (await ask()).text.includes('By the gateway.'), false)
  expect((await ask()).status).toBe(200)
})

test('a member of a collection with an offline gateway is passed over', async () => {
  const { owner: customer, agent: theirs } = await fixture.served()
  const created = await fixture.api(customer, 'POST /user/model-collections', {
    name: 'both',
    display_name: 'Both',
    strategy: 'priority',
    members: [
      { model_id: 'fake/one', priority: 1 },
      { model_id: 'sandbox/echo', priority: 2 },
    ],
  })
  expect(created.status).toBe(201)
  const ask = () => fixture.chat(customer, { model: 'collection/both' })
  expect((await ask()).body['model']).toBe('fake/one')
  theirs.kill()
  await waitForValue(async () => (await ask()).body['model'], 'sandbox/echo')
})

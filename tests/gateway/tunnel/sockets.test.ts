import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { event, defaultHello, type Agent, type Frame } from '../../harness/tunnel-agent'
import {
  waitForValue,
  heartbeatSeconds,
  shortHeartbeatSeconds,
  createGatewayFixture,
  createShortFixture,
  statusOf,
  type GatewayFixture,
  type CreatedGateway,
} from './fixture'
import { sendRequest, parsed } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import type { Customer } from '../../harness/server'
import { isDeep } from '../../../server/testing/depth'
import { recordTimeFigure } from '../../../server/testing/figures'

/** The sockets of self-hosted gateways, from their opening to their end. */

let fixture: GatewayFixture
let owner: Customer
let made: CreatedGateway

beforeAll(async () => {
  fixture = await createGatewayFixture()
  owner = await fixture.newCustomer()
  made = await fixture.createGateway(owner)
})
afterAll(() => fixture[Symbol.asyncDispose]())

const open = (headers: Record<string, string>) =>
  sendRequest(fixture.gateway, {
    path: '/gateway',
    method: 'GET',
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
      ...headers,
    },
  })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('a gateway token', () => {
  test('is required to open a socket', async () => {
    expect((await open({})).error.code).toBe('missing_api_key')
    const wrong = made.token.slice(0, -1) + (made.token.endsWith('0') ? '1' : '0')
    for (const token of [wrong, owner.key, 'gt-tg-short', fixture.gateway.adminKey]) {
      const { status, error } = await open(bearer(token))
      expect([status, error.code]).toEqual([401, 'invalid_api_key'])
    }
  })

  test('is not an API key', async () => {
    const { status, error } = await fixture.api({ key: made.token }, 'GET /gateways')
    expect([status, error.code]).toEqual([401, 'invalid_api_key'])
    expect((await fixture.chat({ key: made.token })).status).toBe(401)
  })

  test('G09: speaks a version that is spoken here', async () => {
    for (const offered of [{}, { 'sec-websocket-protocol': 'tollgate.gateway.2, chat' }]) {
      const response = await fetch(`${fixture.gateway.url}/gateway`, {
        headers: { upgrade: 'websocket', connection: 'Upgrade', ...bearer(made.token), ...offered },
      })
      expect(response.status).toBe(426)
      expect(parsed(await response.text())).toEqual({
        error: {
          type: 'invalid_request_error',
          code: 'unsupported_version',
          message: 'This service speaks tollgate.gateway.1.',
          param: 'Sec-WebSocket-Protocol',
          details: { supported: ['tollgate.gateway.1'] },
        },
      })
    }
    const both = fixture.agent(made, { protocols: ['tollgate.gateway.2', 'tollgate.gateway.1'] })
    expect(await both.opened).toBe(true)
    await both.ready()
    both.kill()
    await waitForValue(() => statusOf(fixture, owner, made.id), 'offline')
  })

  test('requires an upgrade: the error behind a proxy that removes it names it', async () => {
    const { status, error } = await sendRequest(fixture.gateway, {
      path: '/gateway',
      method: 'GET',
      headers: { ...bearer(made.token), 'sec-websocket-protocol': 'tollgate.gateway.1' },
    })
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.message).toContain('proxy')
    expect((await sendRequest(fixture.gateway, { path: '/gateway', method: 'POST' })).status).toBe(
      404,
    )
  })

  test('receives its identity, the heartbeat interval, and the rejected entries', async () => {
    const mine = await fixture.createGateway(owner)
    using agent = fixture.agent(mine, {
      hello: {
        ...defaultHello,
        providers: ['fake', 'nobody', 'fake'],
        models: [
          { provider: 'fake', name: 'mine' },
          { provider: 'fake', name: 'two words' },
          { provider: 'nobody', name: 'mine' },
        ],
        tools: [
          { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
          { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
          { name: 'long', parameters: { description: 'x'.repeat(17_000) } },
        ],
        something: 'that is unknown',
      },
    })
    const { gateway_id, heartbeat_seconds, refused } = await agent.welcome
    expect([gateway_id, heartbeat_seconds]).toEqual([mine.id, heartbeatSeconds])
    const rejected = Array.isArray(refused) ? refused.map(({ what, name }) => [what, name]) : []
    expect(rejected).toEqual([
      ['provider', 'nobody'],
      ['model', 'two words'],
      ['model', 'mine'],
      ['tool', 'look'],
      ['tool', 'long'],
    ])
    const { body } = await fixture.api(owner, 'GET /gateways?status=online')
    expect(body['gateways']).toMatchObject([
      {
        id: mine.id,
        gateway_type: 3,
        status: 'online',
        tool_count: 1,
        tools: [{ name: 'look', description: 'Looks.' }],
        providers: ['fake'],
        version: '1.0.0',
      },
    ])
  })
})

/** Expects that the socket is closed by what `end` does, and records how soon. */
async function expectRevoked(figure: string, agent: Agent, end: () => Promise<unknown>) {
  const { code } = await recordTimeFigure(figure, { atMost: 1000 }, async () => {
    await end()
    return agent.closed
  })
  expect(code).toBe(4401)
}

if (isDeep)
  describe('its end', () => {
    test('G11: a newer socket with the same token replaces it; requests over it are lost', async () => {
      const first = await fixture.agent(made).ready()
      first.answer = () => undefined
      const running = fixture.chat(owner)
      await eventually(() => first.seen('request').length === 1)
      const second = await fixture.agent(made).ready()
      expect((await first.closed).code).toBe(4409)
      expect((await running).error.code).toBe('connection_failed')
      expect((await fixture.chat(owner)).status).toBe(200)
      expect(second.seen('request')).toHaveLength(1)
      second.kill()
      await waitForValue(() => statusOf(fixture, owner, made.id), 'offline')
    })

    test('deleted: the socket is closed, and the token opens none', async () => {
      const { owner: customer, createGateway: theirs, agent } = await fixture.served()
      await expectRevoked('the socket of a deleted gateway', agent, async () => {
        const deleted = await fixture.api(customer, `DELETE /gateways/${theirs.id}`)
        expect(deleted.status).toBe(200)
      })
      using again = fixture.agent(theirs)
      expect(await again.opened).toBe(false)
      const { body } = await fixture.api(customer, 'GET /connections')
      expect(body['connections']).toMatchObject([{ status: 'inactive', gateway_id: null }])
    })

    test('its owner is suspended: the same', async () => {
      const { owner: customer, createGateway: theirs, agent } = await fixture.served()
      const { admin } = fixture.gateway
      await expectRevoked('the socket of a suspended account', agent, () =>
        admin('POST', `/users/${customer.userId}/suspend`, { reason: 'A test.' }),
      )
      using again = fixture.agent(theirs)
      expect(await again.opened).toBe(false)
    })

    test('G06: silent, though it is open still: closed after two heartbeats, and offline', async () => {
      await using short = await createShortFixture()
      const heartbeatMs = shortHeartbeatSeconds * 1000
      const { owner: customer, createGateway: theirs } = await recordTimeFigure(
        'G06: the socket of a silent gateway',
        { atLeast: 2 * heartbeatMs, atMost: 3 * heartbeatMs },
        async () => {
          const served = await short.served({ beats: false })
          expect((await served.agent.closed).code).toBe(4408)
          expect(served.agent.seen('ping').length).toBeGreaterThan(0)
          return served
        },
      )
      await waitForValue(() => statusOf(short, customer, theirs.id), 'offline')
    })
  })

describe('G08: breaches of the protocol', () => {
  const huge = JSON.stringify({ type: 'heartbeat', id: '1', more: 'x'.repeat(1_100_000) })
  const far = JSON.stringify({ type: 'heartbeat', id: '1', more: 'x'.repeat(5_000_000) })

  const breaches: Record<string, string | Uint8Array<ArrayBuffer>> = {
    binary: new Uint8Array([1, 2, 3]),
    'no JSON': 'hello',
    'no object': '[1]',
    'nested without end': '['.repeat(500_000),
    'an unknown type': '{"type":"request","id":"1"}',
    'a chunk without data': '{"type":"chunk","id":"1"}',
    'an id that is too long': JSON.stringify({ type: 'heartbeat', id: 'x'.repeat(65) }),
    'a status that is none': '{"type":"response","id":"1","status":99}',
    'a hello that is nested too deeply': JSON.stringify({
      ...defaultHello,
      type: 'hello',
      id: '1',
      tools: [{ name: 'a', parameters: parsed(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`) }],
    }),
    'a frame beyond 1 MB': huge,
  }

  test.each(Object.keys(breaches))('%s', async (name) => {
    const { owner: customer, createGateway: theirs, agent } = await fixture.served()
    agent.send(breaches[name] ?? '')
    expect((await agent.closed).code).toBe(4400)
    const last = agent.frames.at(-1)
    expect([last?.type, last?.id, last?.['code']]).toEqual(['error', '', 'protocol_error'])
    await waitForValue(() => statusOf(fixture, customer, theirs.id), 'error')
    // Until it says what it serves, properly this time.
    await fixture.agent(theirs).ready()
    expect(await statusOf(fixture, customer, theirs.id)).toBe('online')
    expect((await fixture.chat(customer)).status).toBe(200)
  })

  test('a frame far beyond it', async () => {
    const { owner: customer, createGateway: theirs, agent } = await fixture.served()
    agent.send(far)
    expect((await agent.closed).code).toBe(1009)
    await waitForValue(() => statusOf(fixture, customer, theirs.id), 'error')
  })

  test('no hello in time', async () => {
    const mine = await fixture.createGateway(owner)
    using agent = fixture.agent(mine, { hello: null })
    await agent.opened
    await waitForValue(() => statusOf(fixture, owner, mine.id), 'starting')
    expect((await agent.closed).code).toBe(4400)
  })

  const answers: Record<string, (agent: Agent, request: Frame) => void> = {
    'more than its window allows': (agent, { id }) =>
      agent.send({ type: 'chunk', id, data: event({ content: 'x'.repeat(262_000) }) }),
    'an answer in one frame that is too large': (agent, { id }) =>
      agent.send({ type: 'response', id, status: 200, body: 'x'.repeat(300_000) }),
    'another status behind chunks': (agent, { id }) => {
      agent.send({ type: 'chunk', id, data: event({ content: 'Hello' }) })
      agent.send({ type: 'response', id, status: 500, body: 'x' })
    },
    'a tool result for a request': (agent, { id }) =>
      agent.send({ type: 'tool_result', id, content: 'x', is_error: false }),
  }

  test.each(Object.keys(answers))('within an answer: %s', async (name) => {
    const { owner: customer, agent } = await fixture.served()
    agent.answer = (request) => answers[name]?.(agent, request)
    const { error } = await fixture.chat(customer, { stream: !name.includes('one frame') })
    expect(['connection_failed', undefined]).toContain(error.code)
    expect((await agent.closed).code).toBe(4400)
  })

  test('ignores frames with unknown ids, but not a flood of them', async () => {
    const { owner: customer, agent } = await fixture.served()
    for (const type of ['chunk', 'response', 'error', 'tool_result']) {
      const fields = { data: 'x', status: 200, code: 'overloaded', message: 'x', content: 'x' }
      agent.send({ type, id: 'nobody', ...fields, is_error: false })
    }
    expect((await fixture.chat(customer)).status).toBe(200)
    for (let at = 0; at < 5; at++) {
      agent.send({ type: 'chunk', id: 'nobody', data: 'x'.repeat(500_000) })
    }
    expect((await agent.closed).code).toBe(4400)
  })
})

test('a token appears in no answer but its first, and in no log', async () => {
  const { body } = await fixture.api(owner, 'GET /gateways')
  expect(JSON.stringify(body)).not.toContain('gt-tg-')
  expect(fixture.gateway.output()).not.toContain('gt-tg-')
})

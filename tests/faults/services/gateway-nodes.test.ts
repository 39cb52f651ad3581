import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Customer } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'
import { startGatewayNodes, type GatewayNodes } from './gateway-nodes'
import { sendRaw } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { completion, event, streamOf, defaultHello, type Frame } from '../../harness/tunnel-agent'
import { waitForValue } from '../../gateway/tunnel/fixture'

/** Requests that arrive on one node, for a gateway whose socket is on another. */

let fixture: GatewayNodes

beforeAll(async () => {
  fixture = await startGatewayNodes()
}, 180_000)
afterEach(() => {
  for (const { recorder } of fixture.nodes.all) recorder.verify()
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** Counts the bookings of a request. */
async function bookings(requestId: string | null): Promise<number> {
  const rows = await fixture.nodes.sql`select id from usage_event where request_id = ${requestId}`
  return rows.length
}

describe('a request', () => {
  test('is answered as on the node of the socket: plain, streamed, rejected, booked once', async () => {
    const { owner, agent } = await fixture.served()
    const plain = await fixture.chat(owner)
    expect([plain.status, plain.text.includes('Hello.')]).toEqual([200, true])
    agent.answer = (request) => agent.stream(request, streamOf('Grüße', ' aus', ' 東京.'))
    const stream = await fixture.stream(owner)
    expect([stream.isDone, stream.content]).toEqual([true, 'Grüße aus 東京.'])
    agent.answer = (request) => agent.whole(request, { error: { message: 'Slow down.' } }, 429)
    const busy = await fixture.chat(owner)
    expect([busy.status, busy.error.code]).toEqual([503, 'provider_error'])
    agent.answer = (request) => agent.fail(request, 'overloaded', false)
    const failed = await fixture.chat(owner)
    expect([failed.status, failed.error.code]).toEqual([502, 'connection_failed'])
    for (const { headers } of [plain, stream]) {
      const id = headers.get('x-request-id')
      await waitForValue(() => bookings(id), 1)
    }
    const path = `GET /account/request-logs/${stream.headers.get('x-request-id')}`
    await waitForValue(async () => (await fixture.api(owner, path)).status, 200)
    const { body: log } = await fixture.api(owner, path)
    expect(log).toMatchObject({ status: 'success', gateway_type: 3, output_tokens: 3 })
  })

  test('with a large body arrives complete', async () => {
    const { owner, agent } = await fixture.served()
    const content = 'Ü'.repeat(9_000_000)
    const answer = await fixture.chat(owner, { messages: [{ role: 'user', content }] })
    expect(answer.status).toBe(200)
    const [request] = agent.seen('request')
    expect(request?.['body']).toMatchObject({ messages: [{ role: 'user', content }] })
    // Nothing of it stays in Redis.
    const client = new Bun.RedisClient(fixture.redis.url)
    const kept = await client.keys('tollgate:body:*')
    client.close()
    expect(kept).toEqual([])
  }, 60_000)

  test('is cancelled there when its client disconnects', async () => {
    const { owner, agent } = await fixture.served()
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
  })

  test('runs tools of a session', async () => {
    const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
    const { owner, id, agent } = await fixture.served({ hello: { ...defaultHello, tools } })
    agent.answer = (request) => {
      if (JSON.stringify(request['body']).includes('"tool"')) return agent.whole(request)
      const called = { name: 'add', arguments: '{"a":2}' }
      const tool_calls = [{ id: 'call_1', type: 'function', function: called }]
      const message = { role: 'assistant', content: null, tool_calls }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      agent.whole(request, completion('', { choices }))
    }
    agent.runs = (frame) =>
      agent.send({ type: 'tool_result', id: frame.id, content: '4', is_error: false })
    const made = await fixture.api(owner, 'POST /automation/sessions', {
      modelId: 'fake/mine',
      sessionType: 'automation',
      gatewayId: id,
    })
    expect(made.status).toBe(201)
    const { status, body } = await fixture.api(
      owner,
      `POST /automation/sessions/${String(made.body['id'])}/messages`,
      { content: 'Add.' },
    )
    expect([status, body['toolMessages']]).toMatchObject([201, [{ role: 'tool', content: '4' }]])
    expect(agent.seen('tool_call')).toMatchObject([{ name: 'add', arguments: { a: 2 } }])
  })
})

describe('an answer', () => {
  test('has backpressure: an unread one blocks no other', async () => {
    const { owner, agent } = await fixture.served()
    const piece = event({ content: 'x'.repeat(30_000) })
    const maxBytes = 64 * 1024 * 1024
    const long = { sent: 0, granted: 0, seen: 0, request: undefined as Frame | undefined }
    agent.answer = (request) => {
      if (!JSON.stringify(request['body']).includes('a long one')) return agent.stream(request)
      long.request = request
      long.granted = Number(request['window'])
    }
    const pump = () => {
      const { request } = long
      if (!request) return
      const grants = agent.seen('window').filter(({ id }) => id === request.id)
      for (const grant of grants.slice(long.seen)) long.granted += Number(grant['bytes'])
      long.seen = grants.length
      while (long.sent < maxBytes && long.sent + piece.length <= long.granted) {
        agent.send({ type: 'chunk', id: request.id, data: piece })
        long.sent += piece.length
      }
    }
    const slow = await sendRaw(fixture.asking, {
      key: owner.key,
      body: {
        model: 'fake/mine',
        stream: true,
        messages: [{ role: 'user', content: 'a long one' }],
      },
    })
    slow.stopReading()
    const timer = setInterval(pump, 5)
    await eventually(() => long.request !== undefined)
    for (let time = 0; time < 20; time += 1) {
      expect((await fixture.stream(owner)).content).toBe('Hello.')
    }
    await eventually(() => long.sent > 100_000)
    // Of what follows, the other stream is answered, and this one is not sent on.
    await eventually(async () => {
      const before = long.sent
      expect((await fixture.stream(owner)).content).toBe('Hello.')
      return long.sent === before
    })
    expect(long.sent).toBeLessThan(maxBytes / 2)
    slow[Symbol.dispose]()
    await eventually(() => agent.seen('cancel').length === 1)
    clearInterval(timer)
  }, 60_000)
})

/** Waits until the other node reaches the gateway where it is now. */
async function expectServed(owner: Customer): Promise<void> {
  const servedMs = await eventually(async () => (await fixture.chat(owner)).status === 200)
  recordFigure('a gateway that moved is called on its new node after', servedMs, {
    unit: 'ms',
    atMost: 2000,
  })
}

describe('a gateway', () => {
  test('is unreachable after its deletion, and its running requests end', async () => {
    const { owner, id, agent } = await fixture.served()
    agent.answer = ({ id: request }) =>
      agent.send({ type: 'chunk', id: request, data: event({ content: 'Hello' }) })
    const running = fixture.stream(owner)
    await eventually(() => agent.seen('request').length === 1)
    const deleted = await fixture.api(owner, `DELETE /gateways/${id}`)
    expect(deleted.status).toBe(200)
    expect((await agent.closed).code).toBe(4401)
    expect((await running).error.code).toBe('connection_failed')
    expect((await fixture.chat(owner)).status).not.toBe(200)
  })

  test('is offline for the other node too once it is lost, without a lasting penalty', async () => {
    const { owner, token, agent } = await fixture.served()
    agent.kill()
    await waitForValue(async () => (await fixture.chat(owner)).error.code, 'gateway_unavailable')
    await fixture.connect(fixture.owning, token)
    await expectServed(owner)
  })

  test('is called on the node that it moves to', async () => {
    const { owner, token, agent } = await fixture.served()
    const [first, second] = [fixture.asking, fixture.owning]
    const here = await fixture.connect(first, token)
    expect((await agent.closed).code).toBe(4409)
    await expectServed(owner)
    expect(here.seen('request').length).toBeGreaterThan(0)
    const there = await fixture.connect(second, token)
    expect((await here.closed).code).toBe(4409)
    await expectServed(owner)
    expect(there.seen('request').length).toBeGreaterThan(0)
  })

  test('receives no requests for its previous model after a change', async () => {
    const { owner, agent } = await fixture.served()
    agent.hello({ ...defaultHello, models: [{ provider: 'fake', name: 'other' }] })
    const look = async () => (await fixture.chat(owner, { model: 'fake/other' })).status
    await waitForValue(look, 200)
    expect((await fixture.chat(owner)).status).not.toBe(200)
  })
})

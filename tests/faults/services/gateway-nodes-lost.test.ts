import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'
import { startGatewayNodes, type GatewayNodes, type Served } from './gateway-nodes'
import { messages, request, toStream, type Stream } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { event, type Agent } from '../../harness/tunnel-agent'
import type { Gateway } from '../../harness/server'
import { waitForValue } from '../../gateway/tunnel/fixture'
import { expectSoundLedger } from '../../harness/ledger-oracle'

/** Losses between two nodes while a request runs over both. */

let fixture: GatewayNodes
let served: Served
let agent: Agent

/** The silence after which the other half of a call ends, and a margin for a busy machine. */
const endsWithinMs = 15_000 + 10_000

beforeAll(async () => {
  fixture = await startGatewayNodes()
}, 180_000)
beforeEach(async () => {
  served = await fixture.served()
  agent = served.agent
  agent.answer = ({ id }) => agent.send({ type: 'chunk', id, data: event({ content: 'Hello' }) })
}, 180_000)
afterEach(async () => {
  await expectSoundLedger(fixture.nodes.sql)
})
afterAll(async () => {
  // Whatever Redis did, no content of requests or answers is in a log.
  const logs = fixture.nodes.all.map((node) => node.output()).join('\n')
  await fixture[Symbol.asyncDispose]()
  expect(logs).toContain('Redis is unavailable')
  for (const { content } of messages) expect(logs).not.toContain(content)
})

interface Begun {
  requestId: string
  ended: Promise<Stream>
}

/** Waits until the gateway has heard of the end of a call: the silence of the other half, and half a minute. */
const untilCancelled = () => eventually(() => agent.seen('cancel').length === 1, 45_000)

/** Opens a stream, and waits for its first words. */
async function begun(): Promise<Begun> {
  const { key } = served.owner
  const body = { model: 'fake/mine', messages, stream: true }
  const { status, headers, body: bytes } = await request(fixture.asking, { key, body })
  const read = async () => {
    const text = await new Response(bytes).text()
    return toStream({ status, headers, text, body: {}, error: {}, tookMs: 0 })
  }
  const ended = read()
  // It may break before it is awaited.
  ended.catch(() => undefined)
  return { requestId: headers.get('x-request-id') ?? '', ended }
}

/** Returns the outcomes with which a request was booked. */
async function booked({ requestId }: Begun): Promise<string[]> {
  const read = () => fixture.nodes.sql<{ outcome: string }[]>`
    select outcome from usage_event where request_id = ${requestId}`
  await waitForValue(async () => (await read()).length, 1)
  return (await read()).map(({ outcome }) => outcome)
}

/** Sends a request while the node or Redis that it needs is frozen. */
async function expectRejected(what: string): Promise<void> {
  const { status, tookMs } = await fixture.chat(served.owner)
  expect(status).toBeOneOf([502, 503])
  recordFigure(`a request is rejected while ${what} is frozen after`, tookMs, {
    unit: 'ms',
    atMost: 4000,
  })
}

/** Checks that a stream ended with an error frame, kept its earlier content, and is booked once. */
async function expectCut(stream: Begun, when: string, atMost = endsWithinMs): Promise<void> {
  const name = `a stream over two nodes ends, ${when}, after`
  const { error, content, isDone } = await recordTimeFigure(name, { atMost }, () => stream.ended)
  expect([error.code, content, isDone]).toEqual(['connection_failed', 'Hello', false])
  expect(await booked(stream)).toEqual(['connection_failed'])
}

/** Tells whether a node takes new requests. */
const isReady = ({ url }: Gateway): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  )

const isServed = async () => (await fixture.chat(served.owner)).status

test('the node of the socket is killed: streams are cut, and waiting clients receive an error without retry', async () => {
  const stream = await begun()
  agent.answer = () => undefined
  const plain = fixture.chat(served.owner)
  await eventually(() => agent.seen('request').length === 2)
  await fixture.owning.stop('SIGKILL')
  await expectCut(stream, 'its node killed')
  const { status, error, headers } = await plain
  expect([status, error.code]).toEqual([502, 'connection_failed'])
  expect(headers.get('x-should-retry')).toBe('false')
  // Stale registrations are not used for long.
  await waitForValue(
    async () => (await fixture.chat(served.owner)).error.code,
    'gateway_unavailable',
  )
  await fixture.nodes.restart(1)
  await fixture.connect(fixture.owning, served.token)
  await waitForValue(isServed, 200)
}, 240_000)

test('the node of the socket is frozen: streams are cut, and the gateway is notified when it resumes', async () => {
  const stream = await begun()
  process.kill(fixture.owning.pid, 'SIGSTOP')
  try {
    await expectCut(stream, 'its node frozen')
    await expectRejected('the other node')
  } finally {
    process.kill(fixture.owning.pid, 'SIGCONT')
  }
  await untilCancelled()
  // Requests abandoned meanwhile were never sent.
  expect(agent.seen('request')).toHaveLength(1)
  agent.answer = (frame) => agent.whole(frame)
  await waitForValue(isServed, 200)
}, 240_000)

test('the requesting node is killed: the gateway is notified', async () => {
  const stream = await begun()
  await fixture.asking.stop('SIGKILL')
  await untilCancelled()
  await fixture.nodes.restart(0)
  agent.answer = (frame) => agent.whole(frame)
  await waitForValue(isServed, 200)
  expect(await booked(stream)).toEqual(['orphan'])
}, 240_000)

test('Redis is killed: running requests are cut at once on both sides, and new ones work once it is back', async () => {
  const stream = await begun()
  await fixture.redis.kill()
  await expectCut(stream, 'Redis killed', 3000)
  await untilCancelled()
  const { status, error } = await fixture.chat(served.owner)
  expect([status, error.code]).toEqual([503, 'gateway_unavailable'])
  await fixture.redis.restart()
  agent.answer = (frame) => agent.whole(frame)
  await waitForValue(isServed, 200)
}, 240_000)

test('Redis is frozen: running requests are cut after the silence timeout', async () => {
  const stream = await begun()
  fixture.redis.signal('SIGSTOP')
  try {
    await expectRejected('Redis')
    await expectCut(stream, 'Redis frozen')
    await untilCancelled()
  } finally {
    fixture.redis.signal('SIGCONT')
  }
  agent.answer = (frame) => agent.whole(frame)
  await waitForValue(isServed, 200)
}, 240_000)

test('the node of the socket is stopped: requests of other nodes complete first', async () => {
  const stream = await begun()
  const stopped = fixture.owning.stop('SIGTERM')
  await eventually(async () => !(await isReady(fixture.owning)))
  const [frame] = agent.seen('request')
  const id = frame?.id ?? ''
  const rest = event({ content: ' there.' }) + event({}, { finish_reason: 'stop' })
  agent.send({ type: 'chunk', id, data: `${rest}data: [DONE]\n\n` })
  agent.send({ type: 'response', id, status: 200 })
  const { content, isDone } = await stream.ended
  expect([content, isDone]).toEqual(['Hello there.', true])
  expect((await agent.closed).code).toBe(1001)
  expect(await stopped).toBe(0)
  expect(await booked(stream)).toEqual(['ok'])
  await fixture.nodes.restart(1)
}, 240_000)

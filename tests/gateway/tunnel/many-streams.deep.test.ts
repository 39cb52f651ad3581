import { afterAll, beforeAll, expect, test } from 'bun:test'
import { event, streamOf, type Agent, type Frame } from '../../harness/tunnel-agent'
import { createGatewayFixture, type GatewayFixture, type CreatedGateway } from './fixture'
import { sendRaw } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import type { Customer } from '../../harness/server'

/** Many requests at once over one socket. */

const many = 1000
const longBytes = 64 * 1024 * 1024

let fixture: GatewayFixture
let owner: Customer
let made: CreatedGateway
let agent: Agent

beforeAll(async () => {
  // All of it is one process of the tests' own, which may be busy for a while.
  fixture = await createGatewayFixture({
    GATEWAY_HEARTBEAT_SECONDS: '30',
    SLOW_CLIENT_SECONDS: '120',
    BREAKER_SECONDS: '30',
  })
  const served = await fixture.served()
  made = served.createGateway
  owner = served.owner
  agent = served.agent
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** A long answer, as far as its window goes: `sent` bytes of it so far. */
class LongAnswer {
  sent = 0
  readonly #request: Frame
  readonly #piece = event({ content: 'x'.repeat(30_000) })
  #granted: number
  #seen = 0

  constructor(request: Frame) {
    this.#request = request
    this.#granted = Number(request['window'])
  }

  /** Sends what it may. */
  go(): void {
    const { id } = this.#request
    const grants = agent.seen('window').filter((frame) => frame.id === id)
    for (const grant of grants.slice(this.#seen)) this.#granted += Number(grant['bytes'])
    this.#seen = grants.length
    while (this.sent < longBytes && this.sent + this.#piece.length <= this.#granted) {
      agent.send({ type: 'chunk', id, data: this.#piece })
      this.sent += this.#piece.length
    }
  }
}

/** A stream, on a connection of its own: the runtime's fetch makes 256 at once. */
const asking = (content: string) =>
  sendRaw(fixture.gateway, {
    key: owner.key,
    body: { model: 'fake/mine', stream: true, messages: [{ role: 'user', content }] },
  })

test('G07: a thousand streams over one socket, and one unread stream among them', async () => {
  const long: LongAnswer[] = []
  const waiting: Frame[] = []
  agent.answer = (request) => {
    const isLong = JSON.stringify(request['body']).includes('a long one')
    if (isLong) long.push(new LongAnswer(request))
    else waiting.push(request)
  }
  const slow = await asking('a long one')
  slow.stopReading()
  await eventually(() => long.length === 1)
  const timer = setInterval(() => long[0]?.go(), 5)
  const clients = await Promise.all(Array.from({ length: many - 1 }, () => asking('Hello?')))
  // All at once, before the first has an answer.
  await eventually(() => waiting.length === many - 1)
  const refused = await fixture.chat(owner)
  expect([refused.status, refused.error.code]).toEqual([503, 'gateway_unavailable'])
  for (const request of waiting) agent.stream(request, streamOf('Hello', ' there', '.'))
  const answers = await Promise.all(clients.map(async (client) => client.response()))
  const isGood = ({ status, body }: (typeof answers)[number]) =>
    status === 200 && body.toString().endsWith('data: [DONE]\n\n')
  expect(answers.filter(isGood)).toHaveLength(many - 1)
  expect(answers[0]?.body.toString()).toContain('there')
  // An unread stream stalls, for its gateway too, once the buffers on its way are full: others are served, and it is not.
  agent.answer = (request) => agent.whole(request)
  const sentNow = () => long[0]?.sent ?? 0
  for (let last = -1, served = 0; served < 50; served++) {
    if (last !== sentNow()) served = 0
    last = sentNow()
    expect((await fixture.chat(owner)).status).toBe(200)
  }
  expect(sentNow()).toBeWithin(100_000, longBytes / 2)
  slow[Symbol.dispose]()
  await eventually(() => agent.seen('cancel').length === 1)
  clearInterval(timer)
  expect((await fixture.chat(owner)).status).toBe(200)
}, 120_000)

test('a socket lost with many requests on it does not affect the next one', async () => {
  agent.answer = () => undefined
  agent.frames.length = 0
  const pending = Array.from({ length: 20 }, () => fixture.chat(owner))
  await eventually(() => agent.seen('request').length === 20)
  agent.kill()
  const codes = (await Promise.all(pending)).map(({ error }) => error.code)
  expect(new Set(codes)).toEqual(new Set(['connection_failed']))
  agent = await fixture.agent(made).ready()
  expect((await fixture.chat(owner)).status).toBe(200)
})

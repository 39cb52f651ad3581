import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { startRig, type Rig } from '../../harness/server'
import { parseResponse } from '../../harness/raw-client'
import {
  newChatClient,
  sendRaw,
  messages,
  toStream,
  type ChatClient,
  type Stream,
} from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'

/** The bound of a figure beyond its timer. */
const lateMs = 300
const [earlyMs, pingMs] = [200, 600]
/** Longer than a busy machine delays an event. */
const [firstByteMs, rarePingMs] = [6000, 4000]
let rig: Rig
let chatClient: ChatClient
let other: Rig
let otherClient: ChatClient

beforeAll(async () => {
  const environment = { EARLY_HEADERS_SECONDS: String(earlyMs / 1000) }
  rig = await startRig({
    environment: { ...environment, KEEP_ALIVE_SECONDS: String(pingMs / 1000) },
  })
  chatClient = await newChatClient(rig)
  other = await startRig({
    environment: {
      ...environment,
      KEEP_ALIVE_SECONDS: String(rarePingMs / 1000),
      FIRST_BYTE_TIMEOUT_SECONDS: String(firstByteMs / 1000),
    },
  })
  otherClient = await newChatClient(other)
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})
afterEach(() => {
  for (const { gateway } of [rig, other]) gateway.recorder.verify()
})

test('EARLY_HEADERS_SECONDS: 200 and a ping go out before the first event', async () => {
  const body = { model: await rig.model('slow-first-5000'), stream: true, messages }
  const startedAt = performance.now()
  using client = await sendRaw(rig.gateway, { key: chatClient.customer.key, body })
  const head = await client.until((received) => parseResponse(received) !== undefined)
  const headMs = performance.now() - startedAt
  expect(headMs).toBeGreaterThanOrEqual(earlyMs)
  recordFigure('EARLY_HEADERS_SECONDS: the head goes out after', headMs, {
    unit: 'ms',
    atMost: earlyMs + lateMs / 2,
  })
  expect(parseResponse(head)?.status).toBe(200)
  const { body: whole } = await client.response()
  expect(whole.toString()).toStartWith(': ping\n\n')
  expect(whole.toString()).toEndWith('data: [DONE]\n\n')
})

test('U02: what fails after the early headers is an error frame', async () => {
  const stream = await otherClient.stream('slow-first-60000')
  expect([stream.status, stream.error.code]).toEqual([200, 'request_timeout'])
  expect(stream.content).toBe('')
  expect(stream.isDone).toBe(false)
  expect(stream.tookMs).toBeGreaterThanOrEqual(firstByteMs)
  recordFigure('U02: an error frame after the early headers comes after', stream.tookMs, {
    unit: 'ms',
    atMost: firstByteMs + lateMs,
  })
  const overMs = await eventually(() => other.upstream.requests()[0]?.closedAt !== null)
  recordFigure('U02: its request is over at the provider after', overMs, {
    unit: 'ms',
    atMost: 1000,
  })
})

test('what fails before the early headers is a status, and no ping', async () => {
  const { status, text } = await chatClient.stream('status-500')
  expect(status).toBe(502)
  expect(text).not.toContain('ping')
})

/** One with the headers and one in each interval; exclusive. */
const maxPings = ({ tookMs }: Stream) => Math.floor(tookMs / pingMs) + 2

const afterWord = (received: Buffer) => received.toString().split('w1')[1] ?? ''

/** Reads a stream that pauses between its two words until some pings have come. */
async function readHeld(): Promise<Stream> {
  const body = { model: await rig.model('held-2'), stream: true, messages }
  const startedAt = performance.now()
  using client = await sendRaw(rig.gateway, { key: chatClient.customer.key, body })
  await client.until((received) => afterWord(received).split(': ping\n\n').length > 3)
  rig.upstream.release()
  const { status, body: text } = await client.response()
  const tookMs = performance.now() - startedAt
  const headers = new Headers()
  return toStream({ status, headers, text: text.toString(), body: {}, error: {}, tookMs })
}

test('KEEP_ALIVE_SECONDS: a comment after each silence, before the first event and later', async () => {
  // The first ping comes with the headers; a second one before the first event.
  const [early, later] = await Promise.all([chatClient.stream('slow-first-6000'), readHeld()])
  expect(early.pings).toBeWithin(2, maxPings(early))
  expect(early.isDone).toBe(true)
  expect(later.pings).toBeWithin(3, maxPings(later))
  expect(later.content).toBe('w1 w2')
  expect(later.isDone).toBe(true)
})

test('KEEP_ALIVE_SECONDS: no comment where events come sooner', async () => {
  const stream = await otherClient.stream('chunks-180-gap-50')
  expect(stream.tookMs).toBeGreaterThan(2 * rarePingMs)
  expect(stream.pings).toBe(0)
  expect(stream.isDone).toBe(true)
})

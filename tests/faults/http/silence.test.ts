import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'
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
/** Longer than a busy machine delays an event; pings, than one that stands still. */
const [firstByteMs, rarePingMs] = [6000, 12_000]
let rig: Rig
let chatClient: ChatClient
let other: Rig
let otherClient: ChatClient
/** Its early headers are later than a busy machine makes an answer: they would be a 200, and a ping. */
let patient: Rig
let patientClient: ChatClient

beforeAll(async () => {
  const environment = { EARLY_HEADERS_SECONDS: String(earlyMs / 1000) }
  rig = await startRig({
    environment: { ...environment, KEEP_ALIVE_SECONDS: String(pingMs / 1000) },
  })
  chatClient = await newChatClient(rig)
  other = await startRig({
    environment: { ...environment, FIRST_BYTE_TIMEOUT_SECONDS: String(firstByteMs / 1000) },
  })
  otherClient = await newChatClient(other)
  patient = await startRig({
    environment: { EARLY_HEADERS_SECONDS: '20', KEEP_ALIVE_SECONDS: String(rarePingMs / 1000) },
  })
  patientClient = await newChatClient(patient)
})
afterAll(async () => {
  for (const one of [rig, other, patient]) await one[Symbol.asyncDispose]()
})
afterEach(() => {
  for (const { gateway } of [rig, other, patient]) gateway.recorder.verify()
})

test('EARLY_HEADERS_SECONDS: 200 and a ping go out before the first event', async () => {
  const body = { model: await rig.model('held-first'), stream: true, messages }
  using client = await recordTimeFigure(
    'EARLY_HEADERS_SECONDS: the head goes out after',
    { atLeast: earlyMs, atMost: earlyMs + lateMs / 2 },
    async () => {
      const sent = await sendRaw(rig.gateway, { key: chatClient.customer.key, body })
      await sent.until((received) => parseResponse(received) !== undefined)
      return sent
    },
  )
  expect(parseResponse(client.read())?.status).toBe(200)
  await rig.upstream.releaseHeld()
  const { body: whole } = await client.response()
  expect(whole.toString()).toStartWith(': ping\n\n')
  expect(whole.toString()).toEndWith('data: [DONE]\n\n')
})

test('U02: a failure after the early headers is an error frame', async () => {
  const stream = await otherClient.stream('slow-first-60000')
  expect([stream.status, stream.error.code]).toEqual([200, 'request_timeout'])
  expect(stream.content).toBe('')
  expect(stream.isDone).toBe(false)
  recordFigure('U02: an error frame after the early headers comes after', stream.tookMs, {
    unit: 'ms',
    atLeast: firstByteMs,
    atMost: firstByteMs + lateMs,
  })
  const overMs = await eventually(() => other.upstream.requests()[0]?.closedAt !== null)
  recordFigure('U02: its request is over at the provider after', overMs, {
    unit: 'ms',
    atMost: 1000,
  })
})

test('a failure before the early headers is a status, and no ping', async () => {
  const { status, text } = await patientClient.stream('status-500')
  expect(status).toBe(502)
  expect(text).not.toContain('ping')
})

const pingsIn = (text: string) => text.split(': ping\n\n').length - 1

/** Reads a stream that the provider holds until three pings have come since what `begun` finds. */
async function readHeld(name: string, begun: string): Promise<Stream> {
  const body = { model: await rig.model(name), stream: true, messages }
  const silence = (received: Buffer) => received.toString().split(begun)[1] ?? ''
  const bound = { atLeast: 2 * pingMs, atMost: 3 * pingMs + lateMs }
  using client = await recordTimeFigure(
    `KEEP_ALIVE_SECONDS: three pings of ${name} come within`,
    bound,
    async () => {
      const sent = await sendRaw(rig.gateway, { key: chatClient.customer.key, body })
      await sent.until((received) => pingsIn(silence(received)) >= 3)
      return sent
    },
  )
  await rig.upstream.releaseHeld()
  const { status, body: text } = await client.response()
  const headers = new Headers()
  return toStream({ status, headers, text: text.toString(), body: {}, error: {}, tookMs: 0 })
}

test('KEEP_ALIVE_SECONDS: a comment after each silence, before the first event and later', async () => {
  const early = await readHeld('held-first', '\r\n\r\n')
  expect(early.content).not.toBe('')
  expect(early.isDone).toBe(true)
  const later = await readHeld('held-2', 'w1')
  expect(later.content).toBe('w1 w2')
  expect(later.isDone).toBe(true)
})

test('KEEP_ALIVE_SECONDS: no comment where events come sooner', async () => {
  const stream = await patientClient.stream('chunks-260-gap-50')
  // Thirteen seconds of gaps, more than an interval.
  expect(stream.content).toEndWith(' w260')
  expect(stream.pings).toBe(0)
  expect(stream.isDone).toBe(true)
})

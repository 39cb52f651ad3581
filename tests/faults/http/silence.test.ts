import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { startRig, type Rig } from '../../harness/server'
import { parseResponse } from '../../harness/raw-client'
import { newChatClient, sendRaw, messages, type ChatClient } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { timedTest } from '../../harness/timed'

/** Room for a busy machine. */
const lateMs = 300
const [earlyMs, pingMs, firstByteMs] = [200, 300, 1000]
let rig: Rig
let chatClient: ChatClient

beforeAll(async () => {
  rig = await startRig({
    environment: {
      EARLY_HEADERS_SECONDS: String(earlyMs / 1000),
      KEEP_ALIVE_SECONDS: String(pingMs / 1000),
      FIRST_BYTE_TIMEOUT_SECONDS: String(firstByteMs / 1000),
    },
  })
  chatClient = await newChatClient(rig)
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => rig.gateway.recorder.verify())

timedTest('EARLY_HEADERS_SECONDS: 200 and a ping go out before the first event', async () => {
  const body = { model: await rig.model('slow-first-500'), stream: true, messages }
  const startedAt = performance.now()
  using client = await sendRaw(rig.gateway, { key: chatClient.customer.key, body })
  const head = await client.until((received) => parseResponse(received) !== undefined)
  expect(performance.now() - startedAt).toBeWithin(earlyMs, earlyMs + lateMs / 2)
  expect(parseResponse(head)?.status).toBe(200)
  const { body: whole } = await client.response()
  expect(whole.toString()).toStartWith(': ping\n\n')
  expect(whole.toString()).toEndWith('data: [DONE]\n\n')
})

timedTest('U02: what fails after the early headers is an error frame', async () => {
  rig.upstream.reset()
  const stream = await chatClient.stream('slow-first-9000')
  expect([stream.status, stream.error.code]).toEqual([200, 'request_timeout'])
  expect(stream.content).toBe('')
  expect(stream.isDone).toBe(false)
  expect(stream.tookMs).toBeWithin(firstByteMs, firstByteMs + lateMs)
  await eventually(() => rig.upstream.requests()[0]?.closedAt !== null, 1000)
})

test('what fails before the early headers is a status, and no ping', async () => {
  const { status, text } = await chatClient.stream('status-500')
  expect(status).toBe(502)
  expect(text).not.toContain('ping')
})

test('KEEP_ALIVE_SECONDS: a comment after each silence, before the first event and later', async () => {
  // The first ping comes with the headers; a second one before the first event.
  const [early, later] = await Promise.all([
    chatClient.stream('slow-first-700'),
    chatClient.stream('chunks-2-gap-700'),
  ])
  expect(early.pings).toBe(2)
  expect(early.isDone).toBe(true)
  // After each of two words 700 ms, and two pings.
  expect(later.pings).toBe(4)
  expect(later.content).toBe('w1 w2')
  expect(later.isDone).toBe(true)
})

test('KEEP_ALIVE_SECONDS: no comment where events come sooner', async () => {
  const stream = await chatClient.stream('chunks-30-gap-40')
  expect(stream.tookMs).toBeGreaterThan(3 * pingMs)
  expect(stream.pings).toBe(0)
  expect(stream.isDone).toBe(true)
})

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { hello, type Json } from '../conformance/fixture'
import { sendRaw } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { findBooked, reportedCost, nanosOf } from '../../harness/ledger'
import { parseResponse } from '../../harness/raw-client'
import { priceOf, startTranslation, type Translation } from './translation'
import { recordFigure } from '../../../server/testing/figures'

let it: Translation

beforeAll(async () => {
  it = await startTranslation('anthropic', '/messages', { auth: 'x-api-key' })
})
afterEach(() => {
  it.fixture.verify()
  it.fixture.rig.upstream.reset()
})
afterAll(() => it[Symbol.asyncDispose]())

/** Whether the gateway ended all requests at the provider. */
const isCancelled = () =>
  it.fixture.rig.upstream.requests().every(({ closedBy }) => closedBy === 'peer')

describe('errors', () => {
  const failed: [string, number, Json][] = [
    ['status-400', 400, { code: 'invalid_request' }],
    ['status-401', 502, { code: 'provider_error' }],
    ['status-404', 502, { code: 'provider_error' }],
    ['429-17', 503, { code: 'provider_error' }],
    ['status-500', 502, { code: 'provider_error' }],
    ['status-529', 503, { code: 'provider_error' }],
    ['err-first', 503, { code: 'provider_error' }],
    ['half-json', 502, { code: 'provider_error' }],
    ['html-200', 502, { code: 'provider_error' }],
    ['html-500', 502, { code: 'provider_error' }],
    ['empty-200', 502, { code: 'provider_error' }],
    ['canary-echo', 502, { code: 'provider_error' }],
    ['context-error', 400, { code: 'context_length_exceeded', param: 'messages' }],
    ['close-after-3', 502, {}],
    ['rst-after-3', 502, { code: 'connection_failed' }],
  ]
  test.each(failed)('%s is %d, whole', async (name, status, error) => {
    const answer = await it.chat(name)
    expect(answer.status).toBe(status)
    expect(answer.error).toMatchObject(error)
    if (name === '429-17') expect(answer.headers.get('retry-after')).toBe('17')
    // Nothing of it was seen.
    expect((await it.booked(answer)).cost).toBe(0n)
  })

  const beforeAny = failed.filter(([name]) => !/half|after/.test(name))
  test.each(beforeAny)('%s is %d before a stream begins', async (name, status, error) => {
    const answer = await it.stream(name)
    expect(answer.status).toBe(status)
    expect(answer.error).toMatchObject(error)
  })

  test.each(['wrong-type', 'no-stop'])(
    'finding V5, finding V12: %s is whole, and paid, as its bytes say',
    async (name) => {
      const answer = await it.chat(name)
      expect(answer.status).toBe(200)
      expect((await it.booked(answer)).outcome).toBe('ok')
      const stream = await it.stream(name)
      expect(stream).toMatchObject({ status: 200, isDone: true })
      expect((await it.booked(stream)).outcome).toBe('ok')
    },
  )

  test.each(['err-after-3', 'eof-after-3', 'rst-after-3', 'end-after-3'])(
    '%s ends a stream in an error frame, and its text is paid',
    async (name) => {
      const answer = await it.stream(name)
      expect(answer).toMatchObject({ status: 200, isDone: false })
      expect(answer.content).toStartWith('w1 w2 w3')
      expect(answer.error.code).toBeOneOf(['provider_error', 'connection_failed'])
      const { inputTokens, outputTokens, cost } = await it.booked(answer)
      expect(inputTokens).toBe(2)
      expect(outputTokens).toBeGreaterThanOrEqual(3)
      expect(cost).toBe(priceOf({ input: 2, output: outputTokens }))
    },
  )
})

describe('money', () => {
  test.each([true, false])('cache reads and writes are paid, stream: %p', async (isStream) => {
    const name = 'cache-900-300'
    // No fewer than what is said to have been cached, else that is not believed.
    const fields = { messages: [{ role: 'user', content: 'word '.repeat(2000) }] }
    const answer = isStream ? await it.stream(name, fields) : await it.chat(name, fields)
    const cost = priceOf({ input: 2000, read: 900, written: 300, output: 5 })
    expect(await it.booked(answer)).toMatchObject({ cost, estimated: false, outputTokens: 5 })
    if (isStream) return
    expect(reportedCost(answer)).toBe(cost)
    expect(answer.body['usage']).toMatchObject({
      prompt_tokens: 3200,
      completion_tokens: 5,
      total_tokens: 3205,
      prompt_tokens_details: { cached_tokens: 900 },
    })
  })

  test('an answer without usage is estimated, with the same usage in answer and charge', async () => {
    const answer = await it.chat('uncounted')
    const event = await it.booked(answer)
    expect(event).toMatchObject({ estimated: true, outcome: 'ok' })
    expect(event.outputTokens).toBeGreaterThanOrEqual(5)
    expect(reportedCost(answer)).toBe(event.cost)
    const { inputTokens: prompt_tokens, outputTokens: completion_tokens } = event
    expect(answer.body['usage']).toMatchObject({ prompt_tokens, completion_tokens })
    expect(event.cost).toBe(priceOf({ input: prompt_tokens, output: completion_tokens }))
  })

  test('the end of a message ends the stream, also where the connection stays open', async () => {
    const answer = await it.stream('stop-open')
    expect(answer).toMatchObject({ content: 'w1 w2 w3 w4 w5', isDone: true })
    expect((await it.booked(answer)).cost).toBe(priceOf({ input: 2, output: 5 }))
  })

  test.each([false, true])('M02: an answer beyond its limit is cut; usage: %p', async (asks) => {
    const options = asks ? { stream_options: { include_usage: true } } : {}
    const answer = await it.stream('ignore-cap-100000', { max_tokens: 100, ...options })
    expect([answer.status, answer.isDone, answer.error]).toEqual([200, true, {}])
    expect(answer.content.trim().split(' ').length).toBeWithin(100, 106)
    expect(answer.text.match(/"finish_reason":"\w+"/g)).toEqual(['"finish_reason":"length"'])
    expect(answer.text.includes('"completion_tokens":100,')).toBe(asks)
    const cost = priceOf({ input: 2, output: 100 })
    expect(await it.booked(answer)).toMatchObject({ cost, outputTokens: 100, writtenOff: 0n })
    const { upstream } = it.fixture.rig
    await eventually(() => upstream.requests().every(({ closedBy }) => closedBy === 'peer'))
    expect(upstream.requests()[0]?.chunksSent).toBeLessThan(100_000)
  })

  test('S01: a client that disconnects cancels it at the provider, and pays for the output so far', async () => {
    const model = await it.fixture.model('held-10')
    const { gateway } = it.fixture.rig
    const body = { model, messages: hello, stream: true, max_tokens: 1000 }
    using client = await sendRaw(gateway, { key: it.fixture.customer.key, body })
    await client.until((received) => received.includes(' w3'))
    const id = parseResponse(client.read())?.headers.find(([name]) => name === 'x-request-id')
    client.close()
    const tookMs = await eventually(isCancelled)
    recordFigure('S01: cancelling at the provider', tookMs, { unit: 'ms', atMost: 1000 })
    const [event] = await findBooked(it.sql, [id?.[1] ?? ''])
    expect(event).toMatchObject({ outcome: 'cancelled', estimated: true, inputTokens: 2 })
    // Nine of ten words were sent, of which the client may have left some unread.
    expect(event?.outputTokens).toBeWithin(3, 11)
  })

  test('S02: a client that disconnects from a plain request cancels it at the provider', async () => {
    const model = await it.fixture.model('held-10')
    const { gateway, upstream } = it.fixture.rig
    const body = { model, messages: hello, max_tokens: 1000 }
    using client = await sendRaw(gateway, { key: it.fixture.customer.key, body })
    await eventually(() => (upstream.requests()[0]?.chunksSent ?? 0) > 5)
    client.close()
    const tookMs = await eventually(isCancelled)
    recordFigure('S02: cancelling at the provider', tookMs, { unit: 'ms', atMost: 1000 })
    expect(client.receivedBytes).toBe(0)
  })

  test('the account pays exactly the total cost', async () => {
    const { gateway } = it.fixture.rig
    const { client, userId } = await gateway.customer({}, { credit: 1 })
    const model = await it.fixture.model('ok')
    const { completions } = client.chat
    await completions.create({ model, messages: hello })
    const stream = await completions.create({ model, messages: hello, stream: true })
    expect(await Array.fromAsync(stream)).not.toBeEmpty()
    const bill = it.fixture.rig.upstream.bill('ok')
    const left = async () => {
      const [row] = await it.sql`select posted from credit_account where id = ${userId}`
      return BigInt(row.posted)
    }
    await eventually(async () => (await left()) === 1_000_000_000n - nanosOf(bill.usd))
  })
})

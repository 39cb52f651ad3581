import { describe, expect, test } from 'bun:test'
import { accountOf, priceOf } from '../harness/ledger'
import {
  billsAll,
  dollar,
  eventOf,
  expectNothingPaid,
  expectPromptPaid,
  minPromptTokens,
  sendAndDisconnect,
  messages,
  modelOf,
  maxPromptTokens,
  newCustomer,
  billing,
  tokensPerMinute,
  impatient,
  untilBooked,
  untilDrained,
  usedTokens,
  longText,
  type DisconnectOptions,
  useUnansweredFixture,
} from './unanswered-fixture'
import { sendRequest, sendRaw } from '../harness/http'
import { eventually } from '../../server/testing/eventually'

/** M10: what is paid of a request whose caller leaves, or whose time is up. */

describe('finding M10: a client that disconnects before an answer pays for the sent prompt', () => {
  useUnansweredFixture()

  test.each([
    ['a stream, before its head', 'fake/slow-first-50000', { body: { stream: true } }],
    ['a stream, before its first event', 'fake/slow-event-50000', { body: { stream: true } }],
    ['a plain request', 'fake/slow-first-50000', {}],
    ['a plain request with half of its answer there', 'fake/stall-after-3', {}],
    [
      'a native legacy completion',
      'fake/slow-first-50010',
      {
        path: '/v1/completions',
        model: { category: 'completion' },
        body: { prompt: longText },
      },
    ],
    [
      'a legacy completion of a chat model',
      'fake/slow-first-50020',
      { path: '/v1/completions', body: { prompt: longText } },
    ],
    [
      'embeddings',
      'fake/slow-first-50030',
      { path: '/v1/embeddings', model: { category: 'embedding' }, body: { input: longText } },
    ],
  ] satisfies [string, string, DisconnectOptions][])('%s', async (_what, id, left) => {
    const customer = await newCustomer()
    await sendAndDisconnect(customer, id, left)
    await expectPromptPaid(customer, 'cancelled')
  })

  test('is bounded by the tokens a minute of its plan', async () => {
    const customer = await newCustomer()
    const model = await billing.rig.model('slow-first-50040', { context_length: null })
    // About 20,000 tokens.
    const long = [{ role: 'user', content: longText.repeat(10) }]
    const body = { model, messages: long, max_tokens: 10 }
    let refused = 0
    for (let index = 0; index < 10 && refused === 0; index++) {
      const { upstream, gateway } = billing.rig
      const before = upstream.requests().length
      using client = await sendRaw(gateway, { key: customer.key, body })
      await eventually(
        () => upstream.requests().length > before || client.read().includes('tokens_per_minute'),
      )
      if (upstream.requests().length === before) refused += 1
      client.close()
      // The place among those that run at once is free once its end was noticed.
      await untilBooked()
    }
    expect(refused).toBe(1)
    expect(billing.rig.upstream.requests().length).toBeLessThan(
      tokensPerMinute / (10 * minPromptTokens),
    )
  })

  test('for each sent prompt, and for no waiting one', async () => {
    const customer = await newCustomer()
    const prompt = Array.from({ length: 6 }, () => 'word '.repeat(500))
    const path = '/v1/completions'
    const model = await billing.rig.model('slow-first-50020')
    const { upstream, gateway } = billing.rig
    using client = await sendRaw(gateway, {
      key: customer.key,
      path,
      body: { model, prompt },
    })
    await eventually(() => upstream.requests().length === 4)
    client.close()
    await expectPromptPaid(customer, 'cancelled')
  })

  test('pays for the whole answer, if the provider bills it all: a plain one is read to its end', async () => {
    const customer = await newCustomer()
    await sendAndDisconnect(customer, 'groq/held-10+bill-full')
    await untilDrained(1)
    billsAll.release()
    const event = await eventOf(customer)
    expect(event).toMatchObject({ outcome: 'cancelled', estimated: false })
    expect(event.cost).toBe(BigInt(billsAll.bill().attempts[0]?.nanos ?? 0))
    expect(event.cost).toBeGreaterThan(priceOf(2000, 0))
    expect((await accountOf(billing.sql, customer)).posted).toBe(dollar - event.cost)
  })

  test('pays nothing if the provider bills nothing; its tokens still count', async () => {
    for (const body of [{}, { stream: true }]) {
      const customer = await newCustomer()
      await sendAndDisconnect(customer, 'local/slow-first-50000', { body })
      const event = await expectNothingPaid(customer)
      expect(await usedTokens(customer)).toBe(event.inputTokens)
      expect(event.inputTokens).toBeWithin(minPromptTokens, maxPromptTokens)
    }
  })
})

describe('finding M10: a time-out after the provider was sent the request', () => {
  useUnansweredFixture(impatient)

  test.each([
    ['of a plain request', 'fake/slow-first-50000', {}],
    ['of a stream without an event', 'fake/slow-first-50000', { stream: true }],
    ['at a provider that bills all', 'groq/slow-first-50000', {}],
  ])('%s is paid for, and counts', async (_what, id, fields) => {
    const customer = await newCustomer()
    const body = { model: await modelOf(id), messages, ...fields }
    const answer = await sendRequest(billing.rig.gateway, { key: customer.key, body })
    expect([answer.status, answer.error.code]).toEqual([504, 'request_timeout'])
    await expectPromptPaid(customer, 'request_timeout')
  })

  test('costs nothing where the provider bills nothing', async () => {
    const customer = await newCustomer()
    const body = { model: await modelOf('local/slow-first-50000'), messages }
    expect((await sendRequest(billing.rig.gateway, { key: customer.key, body })).status).toBe(504)
    await expectNothingPaid(customer)
  })
})

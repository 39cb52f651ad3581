import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { expectSoundLedger } from '../harness/ledger-oracle'
import {
  accountOf,
  waitUntilBooked,
  findBookedOnce,
  reportedCost,
  nanosOf,
  startBilling,
  outputPrice,
  priceOf,
  type Booked,
  type Billing,
} from '../harness/ledger'
import { messages, sendRequest, toStream, type Json, type Stream } from '../harness/http'
import { eventually } from '../../server/testing/eventually'
import { readLog } from '../harness/request-log'
import type { Customer } from '../harness/server'

let billing: Billing
/** What tests have the house bear. */
let expectedLoss = 0n
/** What the provider was asked by all tests so far. */
let attempts = 0

beforeAll(async () => {
  billing = await startBilling({ environment: { LOG_LEVEL: 'warn' } })
})
afterEach(() => {
  attempts += billing.rig.upstream.requests().length
  billing.rig.upstream.reset()
})
afterAll(async () => {
  await waitUntilBooked(billing.sql, attempts)
  billing.rig.gateway.recorder.verify()
  await expectSoundLedger(billing.sql, { attempts, writtenOff: expectedLoss })
  await billing[Symbol.asyncDispose]()
})

const dollar = 1_000_000_000n
/** A model of which only its price is known; its answers are held for 8,192 tokens. */
const unknown: Json = { context_length: null, max_output_tokens: null }
const heldOfUnknown = 8192

const wordsOf = ({ content }: Stream) => content.split(' ').filter((word) => word !== '').length
const finishesOf = ({ text }: Stream) =>
  [...text.matchAll(/"finish_reason":"(\w+)"/g)].map(([, reason]) => reason)

/** The stream ended well and early, and the provider was told. */
async function expectCut(answer: Stream, choices = 1): Promise<void> {
  expect([answer.status, answer.isDone]).toEqual([200, true])
  expect(answer.error).toEqual({})
  expect(finishesOf(answer)).toEqual(Array<string>(choices).fill('length'))
  const [seen] = billing.rig.upstream.requests()
  await eventually(() => billing.rig.upstream.openSockets() === 0 || seen?.closedBy === 'peer')
}

/** What was charged is what is missing now, and nothing is held. */
async function expectLeft(customer: Customer, credit: bigint, { cost, writtenOff }: Booked) {
  expect((await accountOf(billing.sql, customer)).posted).toBe(credit - cost + writtenOff)
}

describe('M02: a provider that ignores the limit', () => {
  const name = 'ignore-cap-100000'
  const model: Json = { max_output_tokens: 100_000, context_length: null }

  test.each([false, true])(
    'is cut at the end of the balance, and costs at most its price; usage requested: %p',
    async (asks) => {
      await billing.rig.model(name, model)
      const options = asks ? { stream_options: { include_usage: true } } : {}
      const credit =
        (await billing.floorOf(name, { stream: true, ...options })) + 300n * outputPrice
      const customer = await billing.customer(credit)
      const answer = await billing.stream(customer, name, options)
      await expectCut(answer)
      const [seen] = billing.rig.upstream.requests()
      expect(seen?.cap).toBe(556)
      expect(seen?.chunksSent).toBeLessThan(100_000)
      const event = await findBookedOnce(billing.sql, answer)
      expect(event).toMatchObject({ outputTokens: 556, estimated: true, writtenOff: 0n })
      expect(event.cost).toBe(priceOf(event.inputTokens, 556))
      await expectLeft(customer, credit, event)
      // What the house gives away is at most a twentieth of the hold.
      const words = wordsOf(answer)
      expect(words).toBeGreaterThanOrEqual(556)
      expect(BigInt(words - 556) * outputPrice).toBeLessThanOrEqual(credit / 20n)
      expect(answer.text.includes('"completion_tokens":556')).toBe(asks)
    },
  )

  test('M38: an account never pays beyond its limit, with credit or without', async () => {
    const customer = await billing.customer(dollar)
    const answer = await billing.stream(customer, name, { max_tokens: 100 })
    await expectCut(answer)
    expect(wordsOf(answer)).toBeWithin(100, 106)
    const event = await findBookedOnce(billing.sql, answer)
    expect(event).toMatchObject({ outputTokens: 100, writtenOff: 0n })
    await expectLeft(customer, dollar, event)
  })

  test('is cut in each of its choices', async () => {
    const customer = await billing.customer(dollar)
    const answer = await billing.stream(customer, name, { max_tokens: 100, n: 3 })
    await expectCut(answer, 3)
    expect((await findBookedOnce(billing.sql, answer)).outputTokens).toBe(300)
  })

  test.each([
    ['completion', 'one', 1],
    ['chat', 'one', 1],
    ['chat', ['one', 'two', 'three'], 3],
  ])('is cut as a legacy completion of a %s model, %p', async (category, prompt, choices) => {
    const own = `ignore-cap-${category === 'chat' ? 5001 : 5000}`
    const customer = await billing.customer(dollar)
    const body = {
      model: await billing.rig.model(own, { category }),
      prompt,
      stream: true,
      max_tokens: 100,
      stream_options: { include_usage: true },
    }
    const { gateway } = billing.rig
    const answer = toStream(
      await sendRequest(gateway, { path: '/v1/completions', key: customer.key, body }),
    )
    await expectCut(answer, choices)
    expect(answer.text).toContain(`"completion_tokens":${100 * choices}`)
    expect((await findBookedOnce(billing.sql, answer)).outputTokens).toBe(100 * choices)
    // Several prompts of a chat model are several requests to its provider, and one event.
    attempts -= billing.rig.upstream.requests().length - 1
  })

  test('an echo of the prompt is not output', async () => {
    const customer = await billing.customer(dollar)
    const prompt = 'word '.repeat(500)
    const body = {
      model: await billing.rig.model('ignore-cap-120', { category: 'completion' }),
      prompt,
      echo: true,
      stream: true,
      max_tokens: 100,
    }
    const { gateway } = billing.rig
    const answer = toStream(
      await sendRequest(gateway, { path: '/v1/completions', key: customer.key, body }),
    )
    expect(finishesOf(answer)).toEqual(['stop'])
  })
})

/** A provider of one model, which says 1,500 words and pauses after 500 of them. */
async function connectPausing(paused: Promise<void>) {
  let isPaused = false
  async function* events() {
    const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'x' }
    const event = (more: Json) => `data: ${JSON.stringify({ ...head, ...more })}\n\n`
    const delta = { role: 'assistant', content: 'word ' }
    const word = event({ choices: [{ index: 0, delta, finish_reason: null }] })
    yield word.repeat(500)
    isPaused = true
    await paused
    yield word.repeat(1000)
    yield event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    const usage = { prompt_tokens: 2, completion_tokens: 1500, total_tokens: 1502 }
    yield `${event({ choices: [], usage })}data: [DONE]\n\n`
  }
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = () => new Response(events(), { headers })
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch })
  const { admin } = billing.rig.gateway
  const [key, base_url] = ['pausing', `http://127.0.0.1:${server.port}/v1`]
  await admin('POST', '/providers', { key, name: key, adapter: 'openai', base_url })
  await admin('POST', '/connections', { name: key, provider: key, api_key: 'sk-0123456789' })
  const model = `${key}/one`
  const priced = { id: model, name: key, category: 'chat', pricing: { input: 1, output: 4 } }
  await admin('POST', '/models', { ...priced, ...unknown })
  return {
    model,
    isPaused: () => isPaused,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

describe('an answer without a limit', () => {
  test.each([20_000, 60_000])('with %d tokens is held for as it grows', async (count) => {
    const name = `chunks-${count}`
    await billing.rig.model(name, unknown)
    // The slice that was taken with the first hold is too small for the longer one.
    const customer = await billing.customer(dollar)
    const answer = await billing.stream(customer, name)
    expect(finishesOf(answer)).toEqual(['stop'])
    expect([answer.isDone, wordsOf(answer)]).toEqual([true, count])
    const event = await findBookedOnce(billing.sql, answer)
    expect(event).toMatchObject({ cost: priceOf(2, count), estimated: false, writtenOff: 0n })
    await expectLeft(customer, dollar, event)
  })

  test('goes on as long as there is credit, others meanwhile included', async () => {
    const name = 'chunks-60001'
    await billing.rig.model(name, unknown)
    const credit = (await billing.floorOf(name, { stream: true })) + 12_000n * outputPrice
    const customer = await billing.customer(credit)
    const answer = await billing.stream(customer, name)
    await expectCut(answer)
    const event = await findBookedOnce(billing.sql, answer)
    expect(event).toMatchObject({ outputTokens: 12_256, writtenOff: 0n })
    await expectLeft(customer, credit, event)
    const given = BigInt(wordsOf(answer) - event.outputTokens) * outputPrice
    expect(given).toBeLessThanOrEqual(credit / 20n)
  })

  test('continues with credit paid in meanwhile', async () => {
    const paid = Promise.withResolvers<void>()
    await using provider = await connectPausing(paid.promise)
    await billing.rig.model('chunks-1500', unknown)
    // Enough for a thousand words.
    const credit = (await billing.floorOf('chunks-1500', { stream: true })) + 744n * outputPrice
    const customer = await billing.customer(credit)
    const body = { model: provider.model, messages, stream: true }
    const running = sendRequest(billing.rig.gateway, { key: customer.key, body })
    await eventually(() => provider.isPaused())
    await billing.rig.gateway.admin('POST', '/credits/grant', {
      user_id: customer.userId,
      amount: 1,
      reason: 'test',
    })
    paid.resolve()
    const answer = toStream(await running)
    expect([finishesOf(answer), wordsOf(answer)]).toEqual([['stop'], 1500])
    const event = await findBookedOnce(billing.sql, answer)
    expect(event.cost).toBe(priceOf(2, 1500))
    await expectLeft(customer, credit + dollar, event)
  })

  test('M38: beyond its hold is paid out of the free slice', async () => {
    expect(5000).toBeLessThan(heldOfUnknown)
    const customer = await billing.customer(dollar)
    // Held for 4,096 tokens.
    const answer = await billing.chat(customer, 'chunks-5000')
    const event = await findBookedOnce(billing.sql, answer)
    expect(event).toMatchObject({ cost: priceOf(2, 5000), writtenOff: 0n })
    expect(reportedCost(answer)).toBe(event.cost)
    await expectLeft(customer, dollar, event)
  })

  test('M38: then out of the balance; the house bears the rest', async () => {
    const name = 'chunks-5001'
    const floor = await billing.floorOf(name)
    const credit = floor + 300n * outputPrice
    const customer = await billing.customer(credit)
    const answer = await billing.chat(customer, name)
    const event = await findBookedOnce(billing.sql, answer)
    expect(event.cost).toBe(priceOf(2, 5001))
    expect(event.writtenOff).toBe(event.cost - credit)
    expect((await accountOf(billing.sql, customer)).posted).toBe(0n)
    expectedLoss += event.writtenOff
  })

  test('M6: the answer and the log show the charge, if the house bears a part', async () => {
    const name = 'chunks-5002'
    const credit = (await billing.floorOf(name)) + 300n * outputPrice
    const customer = await billing.customer(credit)
    const answer = await billing.chat(customer, name)
    const { cost, writtenOff } = await findBookedOnce(billing.sql, answer)
    expectedLoss += writtenOff
    expect(writtenOff).toBe(priceOf(2, 5002) - credit)
    expect([reportedCost(answer), cost - writtenOff]).toEqual([credit, credit])
    const getJson = async (path: string) =>
      (await sendRequest(billing.rig.gateway, { method: 'GET', key: customer.key, path })).body
    const logs = '/api/account/request-logs'
    const log = await readLog(billing.rig.gateway, customer, answer)
    expect(nanosOf(log['cost'])).toBe(credit)
    expect(nanosOf((await getJson(`${logs}/stats`))['total_cost'])).toBe(credit)
    const metrics = await getJson('/api/billing/metrics?period=24h')
    expect(nanosOf(Object(metrics['summary'])['total_cost'])).toBe(credit)
  })

  test('is not believed to be longer than the context', async () => {
    const customer = await billing.customer(100n * dollar)
    const answer = await billing.chat(customer, 'chunks-50000')
    expect((await findBookedOnce(billing.sql, answer)).outputTokens).toBe(8192)
  })
})

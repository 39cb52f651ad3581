import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accountOf, priceOf } from '../harness/ledger'
import {
  dollar,
  eventOf,
  expectNothingPaid,
  minPromptTokens,
  sendAndDisconnect,
  messages,
  modelOf,
  maxPromptTokens,
  newCustomer,
  billing,
  impatient,
  usedTokens,
  useUnansweredFixture,
} from './unanswered-fixture'
import { freePort } from '../harness/free-port'
import { sendRequest, sendRaw } from '../harness/http'

/** M10: what is paid of a request that comes to nothing in parts, and what is not paid. */

useUnansweredFixture(impatient)

/** Answers 1 token for a prompt of 3 words, refuses what says so, and is silent for what says that. */
async function connectParts(): Promise<Disposable & { answered: () => number }> {
  let answered = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const text = await request.text()
      if (text.includes('refuse')) {
        const error = { message: 'No.', type: 'invalid_request_error' }
        return Response.json({ error }, { status: 400 })
      }
      if (text.includes('silent')) return new Promise<Response>(() => undefined)
      answered += 1
      return Response.json({
        id: 'x',
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'word' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      })
    },
  })
  const { admin } = billing.rig.gateway
  const base_url = `http://127.0.0.1:${server.port}/v1`
  await admin('POST', '/providers', { key: 'parts', name: 'Parts', adapter: 'openai', base_url })
  const connection = { name: 'parts', provider: 'parts', api_key: 'sk-0123456789' }
  await admin('POST', '/connections', connection)
  return { answered: () => answered, [Symbol.dispose]: () => void server.stop(true) }
}

describe('finding M10: a failed request in parts', () => {
  test('answered parts are paid, with the prompt of the others', async () => {
    using parts = await connectParts()
    const model = await modelOf('parts/one')
    const complete = async (prompt: string[]) => {
      const customer = await newCustomer()
      const body = { model, prompt }
      const path = '/v1/completions'
      const { status } = await sendRequest(billing.rig.gateway, { key: customer.key, path, body })
      const event = await eventOf(customer)
      expect(await usedTokens(customer)).toBe(event.inputTokens + event.outputTokens)
      expect((await accountOf(billing.sql, customer)).posted).toBe(dollar - event.cost)
      return { status, event }
    }
    // Five were answered before the sixth was refused: in rounds of four.
    const refused = await complete(['a', 'b', 'c', 'd', 'e', 'refuse'])
    expect([refused.status >= 400, parts.answered()]).toEqual([true, 5])
    expect(refused.event.cost).toBe(priceOf(5 * 3, 5))
    const silent = await complete(['a', 'b', 'silent'])
    expect([silent.status, parts.answered()]).toEqual([504, 7])
    expect(silent.event).toMatchObject({ estimated: true, outputTokens: 2 })
    expect(silent.event.inputTokens).toBeWithin(2 * 3 + 1, 2 * 3 + 20)
  })
})

describe('finding M10: nothing is paid', () => {
  test.each(['status-400', 'status-500', 'status-429', 'json-array'])(
    'for a provider that refuses or fails: %s',
    async (name) => {
      const customer = await newCustomer()
      const body = { model: await billing.rig.model(name), messages }
      const { status } = await sendRequest(billing.rig.gateway, { key: customer.key, body })
      expect(status).toBeGreaterThanOrEqual(400)
      await expectNothingPaid(customer)
      expect(await usedTokens(customer)).toBe(0)
    },
  )

  test('if the provider was never reached', async () => {
    const { admin } = billing.rig.gateway
    const base_url = `http://127.0.0.1:${freePort()}/v1`
    await admin('POST', '/providers', { key: 'away', name: 'Away', adapter: 'openai', base_url })
    await admin('POST', '/connections', {
      name: 'away',
      provider: 'away',
      api_key: 'sk-0123456789',
    })
    const customer = await newCustomer()
    const body = { model: await modelOf('away/ok'), messages }
    expect((await sendRequest(billing.rig.gateway, { key: customer.key, body })).status).toBe(502)
    await expectNothingPaid(customer)
    expect(await usedTokens(customer)).toBe(0)
  })
})

const set = (unanswered_requests: string) =>
  billing.rig.gateway.admin('PUT', '/config', { unanswered_requests })

describe('finding M10: an operator waives unanswered requests', () => {
  beforeAll(() => set('waive'))
  afterAll(() => set('charge'))

  test('charges nothing for it; its tokens still count', async () => {
    for (const body of [{}, { stream: true }]) {
      const customer = await newCustomer()
      await sendAndDisconnect(customer, 'fake/slow-first-50000', { body })
      const event = await expectNothingPaid(customer)
      expect(event).toMatchObject({ outcome: 'cancelled', estimated: true })
      expect(await usedTokens(customer)).toBe(event.inputTokens)
      expect(event.inputTokens).toBeWithin(minPromptTokens, maxPromptTokens)
    }
    const customer = await newCustomer()
    const body = { model: await modelOf('fake/slow-first-50000'), messages }
    expect((await sendRequest(billing.rig.gateway, { key: customer.key, body })).status).toBe(504)
    await expectNothingPaid(customer)
  })

  test('charges the delivered part of a stream as before', async () => {
    const customer = await newCustomer()
    const { key } = customer
    const body = { model: await billing.rig.model('rate-50'), messages, stream: true }
    using client = await sendRaw(billing.rig.gateway, {
      key,
      body: { ...body, max_tokens: 1000 },
    })
    await client.until((received) => received.includes(' w20'))
    client.close()
    const event = await eventOf(customer)
    expect(event).toMatchObject({ outcome: 'cancelled', estimated: true })
    expect(event.cost).toBe(priceOf(event.inputTokens, event.outputTokens))
  })
})

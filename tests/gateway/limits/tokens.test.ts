import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendRequest, messages, type Json } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { startRig, type Customer, type Rig } from '../../harness/server'

const limit = 100_000

let rig: Rig
let plan: unknown

beforeAll(async () => {
  rig = await startRig()
  plan = (await rig.gateway.admin('POST', '/plans', { name: 't', tokens_per_minute: limit }))['id']
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const newCustomer = () => rig.gateway.customer({}, { plan_id: plan })

const chat = async ({ key }: Customer, name: string, fields: Json = {}) =>
  sendRequest(rig.gateway, {
    key,
    body: {
      model: await rig.model(name, { max_output_tokens: 200_000, context_length: null }),
      messages,
      ...fields,
    },
  })

/** What counts now: told in the refusal of a request that is larger than the limit. */
async function used(customer: Customer): Promise<number> {
  const { status, error } = await chat(customer, 'ok', { max_tokens: limit + 1 })
  expect([status, error.code]).toEqual([429, 'tokens_per_minute_exceeded'])
  return Number(error.details?.['used'])
}

const usageOf = ({ usage }: Json): number =>
  typeof usage === 'object' && usage !== null ? Number(Reflect.get(usage, 'total_tokens')) : NaN

describe('R08: tokens per minute', () => {
  test.each([
    [100, 4000, 100],
    [40_000, undefined, 40_000],
    // M12: what a provider writes beyond the caller's limit is not charged, and does not count.
    [40_000, 4000, 4000],
  ])(
    'from %d, with a limit of %p, the charged ones are counted: %d',
    async (real, limited, counted) => {
      const customer = await newCustomer()
      const { status, body } = await chat(customer, `chunks-${real}`, { max_tokens: limited })
      expect([status, usageOf(body)]).toEqual([200, real + 2])
      expect(await used(customer)).toBe(counted + 2)
    },
  )

  test('the same of a stream', async () => {
    const customer = await newCustomer()
    await chat(customer, 'chunks-500', { stream: true, max_tokens: 4000 })
    expect(await used(customer)).toBe(502)
  })

  test('while a stream runs its reservation counts', async () => {
    const customer = await newCustomer()
    const running = chat(customer, 'held-40', { stream: true, max_tokens: 4000 })
    await eventually(() => rig.upstream.heldCount() === 1)
    expect(await used(customer)).toBeWithin(4001, 4200)
    rig.upstream.release()
    await running
    expect(await used(customer)).toBe(42)
  })

  test('legacy completions and embeddings count too', async () => {
    const customer = await newCustomer()
    const { key } = customer
    const model = await rig.model('chunks-30')
    const text = await sendRequest(rig.gateway, {
      path: '/v1/completions',
      key,
      body: { model, prompt: ['one', 'two'] },
    })
    expect(await used(customer)).toBe(usageOf(text.body))
    const embedding = await rig.model('embed', { category: 'embedding', upstream_model: 'ok' })
    const list = await sendRequest(rig.gateway, {
      path: '/v1/embeddings',
      key,
      body: { model: embedding, input: ['a b c', 'd e'] },
    })
    expect(list.status).toBe(200)
    expect(await used(customer)).toBe(usageOf(text.body) + usageOf(list.body))
    const streamed = await sendRequest(rig.gateway, {
      path: '/v1/completions',
      key,
      body: { model, prompt: ['one', 'two', 'three'], stream: true },
    })
    expect(streamed.status).toBe(200)
    expect(await used(customer)).toBe(usageOf(text.body) + usageOf(list.body) + 3 * 31)
  })

  test.each(['status-500', 'status-429', 'status-400', 'status-503', 'json-array'])(
    'nothing is counted for %s',
    async (name) => {
      const customer = await newCustomer()
      const { status } = await chat(customer, name, { max_tokens: 4000 })
      expect(status).toBeGreaterThanOrEqual(400)
      expect(await used(customer)).toBe(0)
      await chat(customer, name, { stream: true, max_tokens: 4000 })
      expect(await used(customer)).toBe(0)
    },
  )

  test('a broken stream counts its text so far', async () => {
    const customer = await newCustomer()
    await chat(customer, 'close-after-5', { stream: true, max_tokens: 4000 })
    expect(await used(customer)).toBeWithin(1, 100)
  })

  test('a client that disconnects returns the unused tokens', async () => {
    const customer = await newCustomer()
    const leaving = new AbortController()
    const { key } = customer
    const model = await rig.model('held-10')
    const body = { model, messages, stream: true, max_tokens: 4000 }
    const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    await eventually(async () => (await used(customer)) < 200)
  })
})

describe('a request that does not fit', () => {
  test('is rejected with limit, use and the time to wait, after all other checks', async () => {
    const customer = await newCustomer()
    const firstAskedAt = Date.now()
    await chat(customer, 'chunks-90000')
    const refused = await chat(customer, 'ok', { max_tokens: 20_000 })
    const answeredAt = Date.now()
    expect(refused.status).toBe(429)
    expect(refused.error).toMatchObject({
      type: 'rate_limit_error',
      code: 'tokens_per_minute_exceeded',
      details: { limit, used: 90_002 },
    })
    // Until the first one is a minute old. Two clocks are rounded.
    const waitMs = Number(refused.headers.get('retry-after-ms'))
    expect(waitMs).toBeWithin(firstAskedAt + 60_000 - answeredAt - 2, 60_001)
    expect(refused.headers.get('x-ratelimit-limit')).toBe(String(limit))
    expect(refused.headers.get('x-ratelimit-remaining')).toBe(String(limit - 90_002))
    expect(refused.headers.get('x-should-retry')).toBeNull()
    const unknown = await chat(customer, 'ok', { model: 'fake/none', max_tokens: 20_000 })
    expect(unknown.status).toBe(404)
  })

  test('now or ever makes clients not repeat it', async () => {
    const customer = await newCustomer()
    const refused = await chat(customer, 'ok', { max_tokens: limit })
    expect(refused.error).toMatchObject({ details: { limit, used: 0 } })
    expect(refused.headers.get('x-should-retry')).toBe('false')
  })

  test('an image in base64 is not counted by its length', async () => {
    const customer = await newCustomer()
    const url = `data:image/png;base64,${'A'.repeat(2_000_000)}`
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url } },
    ]
    const { status } = await chat(customer, 'ok', { messages: [{ role: 'user', content }] })
    expect(status).toBe(200)
  })
})

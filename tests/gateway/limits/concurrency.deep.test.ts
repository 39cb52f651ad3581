import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendRequest, messages, type Json } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'

let rig: Rig
let plan: unknown

async function start(environment: Record<string, string> = {}) {
  rig = await startRig({ environment })
  const fields = { name: 'two', concurrent_requests: 2, requests_per_minute: 1_000_000 }
  plan = (await rig.gateway.admin('POST', '/plans', fields))['id']
}
async function stop() {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
}

const newCustomer = () => rig.gateway.customer({}, { plan_id: plan })

const chat = async ({ key }: Customer, name: string, fields: Json = {}) =>
  sendRequest(rig.gateway, { key, body: { model: await rig.model(name), messages, ...fields } })

/** Starts a request that is not read to its end, and leaves when told so. */
async function begun({ key }: Customer, name: string, fields: Json = {}) {
  const leaving = new AbortController()
  const model = await rig.model(name)
  const response = fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, ...fields }),
    signal: leaving.signal,
  })
  response.catch(() => undefined)
  return { response, leave: () => leaving.abort() }
}

/** Two requests at once still fit: nothing has kept its place. */
async function expectBothPlaces(customer: Customer) {
  const statuses: number[] = []
  const pair = [1, 2].map(async () => statuses.push((await chat(customer, 'held-first')).status))
  await eventually(() => rig.upstream.heldCount() === 2 || statuses.length > 0)
  expect(statuses).toEqual([])
  rig.upstream.release()
  await Promise.all(pair)
  expect(statuses).toEqual([200, 200])
}

/** Waits until so many requests for a model, which only one test uses, are at the provider. */
const untilRunning = (name: string, count: number) =>
  eventually(() => rig.upstream.requests().filter(({ model }) => model === name).length === count)

const untilHeld = (count: number) => eventually(() => rig.upstream.heldCount() === count)

describe('requests at once', () => {
  beforeAll(() => start())
  afterAll(stop)

  test('one more than the limit is rejected at once; it succeeds when one has ended', async () => {
    const customer = await newCustomer()
    const slow = [chat(customer, 'held-3'), chat(customer, 'held-3')]
    await untilHeld(2)
    const refused = await chat(customer, 'ok')
    expect(refused.status).toBe(429)
    expect(refused.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { limit: 2, window: 0, retry_after: 1 },
    })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('retry-after-ms')).toBe('1000')
    expect(refused.headers.get('x-ratelimit-limit')).toBe('2')
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    rig.upstream.release()
    await Promise.all(slow)
    await expectBothPlaces(customer)
  })

  test('a stream holds its place until its last byte', async () => {
    const customer = await newCustomer()
    const streams = [1, 2].map(() => chat(customer, 'held-3', { stream: true }))
    await untilHeld(2)
    expect((await chat(customer, 'ok')).status).toBe(429)
    rig.upstream.release()
    await Promise.all(streams)
    await expectBothPlaces(customer)
  })

  test('GET needs no place', async () => {
    const customer = await newCustomer()
    const slow = [chat(customer, 'held-3'), chat(customer, 'held-3')]
    await untilHeld(2)
    const { key } = customer
    const list = await sendRequest(rig.gateway, { method: 'GET', path: '/v1/models', key })
    expect(list.status).toBe(200)
    rig.upstream.release()
    await Promise.all(slow)
  })

  test('for a key may be fewer than for its account', async () => {
    const customer = await rig.gateway.customer({ max_concurrent_requests: 1 }, { plan_id: plan })
    const slow = chat(customer, 'held-3')
    await untilHeld(1)
    expect((await chat(customer, 'ok')).error.details).toMatchObject({ limit: 1, window: 0 })
    rig.upstream.release()
    await slow
  })
})

const setTimers = (seconds: number) =>
  rig.gateway.admin('PUT', '/config', {
    timers: { idle_seconds: seconds, request_seconds: seconds },
  })

describe('a place comes back after a time-out', () => {
  beforeAll(() => start())
  afterAll(stop)

  const ends: [string, string, Json][] = [
    ['of a stream that stalls', 'stall-after-3', { stream: true }],
    ['of a provider that never answers', 'slow-first-600000', {}],
  ]
  test.each(ends)('%s', async (_name, model, fields) => {
    const customer = await newCustomer()
    await setTimers(1)
    const ended = await Promise.all([1, 2].map(() => chat(customer, model, fields)))
    for (const { text } of ended) expect(text).toContain('request_timeout')
    // What is held below may take its time.
    await setTimers(600)
    await expectBothPlaces(customer)
  })
})

describe('a place comes back', () => {
  beforeAll(() => start())
  afterAll(stop)

  const ends: [string, string, Json][] = [
    ['an answer', 'ok', {}],
    ['a stream', 'ok', { stream: true }],
    ['a refused body', 'ok', { messages: 1 }],
    ['an unknown model', 'ok', { model: 'fake/none' }],
    ['an error of the provider', 'status-500', {}],
    ['an error before a stream', 'status-500', { stream: true }],
    ['nonsense in a stream', 'rst-after-3', { stream: true }],
  ]
  test.each(ends)('after %s', async (_name, model, fields) => {
    const customer = await newCustomer()
    await Promise.all([chat(customer, model, fields), chat(customer, model, fields)])
    await expectBothPlaces(customer)
  })

  const leavers: [string, string, Json][] = [
    ['a plain request', 'slow-first-600000', {}],
    ['a stream', 'stall-after-4', { stream: true }],
    ['a stream before its first event', 'slow-event-600000', { stream: true }],
  ]
  test.each(leavers)('after a client disconnects %s', async (name, model, fields) => {
    const customer = await newCustomer()
    const requests = [await begun(customer, model, fields), await begun(customer, model, fields)]
    await untilRunning(model, 2)
    expect((await chat(customer, 'ok')).status).toBe(429)
    for (const { leave } of requests) leave()
    // Each try waits for both of its requests: they hold no slot during the next one.
    const areFree = async () => {
      const pair = await Promise.all([1, 2].map(() => chat(customer, 'slow-first-100')))
      return pair.every(({ status }) => status === 200)
    }
    const tookMs = await eventually(areFree)
    recordFigure(`a place of a client that left ${name}`, tookMs, { unit: 'ms', atMost: 1000 })
  })

  test('a thousand times over, with any end', async () => {
    const customer = await newCustomer()
    const lanes = [1, 2].map(async (lane) => {
      for (let round = 0; round < 500; round++) {
        const stream = (round + lane) % 2 === 0
        const name = round % 7 === 0 ? 'status-500' : 'ok'
        const { status } = await chat(customer, name, { stream })
        expect(status).not.toBe(429)
      }
    })
    await Promise.all(lanes)
    await expectBothPlaces(customer)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendRequest, messages, type Answer } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

let rig: Rig

const windowMs = 60_000
const begunAt = Date.now()

beforeAll(async () => {
  rig = await startRig()
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

let plans = 0

/** An account with limits of its own, and a key with some too. */
async function limited(limits: object, key: object = {}): Promise<Customer> {
  plans += 1
  const plan = await rig.gateway.admin('POST', '/plans', { name: `plan ${plans}`, ...limits })
  return rig.gateway.customer({ ...key }, { plan_id: plan['id'] })
}

const models = ({ key }: Customer) =>
  sendRequest(rig.gateway, { method: 'GET', path: '/v1/models/sandbox/echo', key })

const chat = async ({ key }: Customer, body: object = {}) =>
  sendRequest(rig.gateway, { key, body: { model: await rig.model('ok'), messages, ...body } })

/** Limit and what is left, as told in the headers; the reset is within a minute after the answer. */
function quota({ headers }: Answer) {
  const resetAt = 1000 * Number(headers.get('x-ratelimit-reset'))
  expect(resetAt).toBeWithin(begunAt, Date.now() + windowMs + 1000)
  return [Number(headers.get('x-ratelimit-limit')), Number(headers.get('x-ratelimit-remaining'))]
}

describe('the headers of limits are on every authenticated answer', () => {
  test('lists, whole answers, streams, refusals after the key; GET and POST count alike', async () => {
    const customer = await limited({ requests_per_minute: 20 })
    const asText = { 'content-type': 'text/plain' }
    const requests = [
      [200, () => models(customer)],
      [200, () => chat(customer)],
      [200, () => chat(customer, { stream: true })],
      [400, () => chat(customer, { messages: 5 })],
      [404, () => chat(customer, { model: 'nobody/nothing' })],
      [400, () => sendRequest(rig.gateway, { key: customer.key, body: '{}', headers: asText })],
    ] as const
    for (const [place, [status, answer]] of requests.entries()) {
      const got = await answer()
      expect([got.status, quota(got)]).toEqual([status, [20, 19 - place]])
    }
  })

  test('a refused permission shows the state of the key, and does not count', async () => {
    const customer = await limited({ requests_per_minute: 20 }, { permissions: ['read'] })
    for (let tries = 0; tries < 2; tries++) {
      const refused = await chat(customer)
      expect([refused.status, quota(refused)]).toEqual([403, [20, 20]])
    }
    expect(quota(await models(customer))).toEqual([20, 19])
  })

  test('sends no rate limit headers without a key', async () => {
    const refused = await sendRequest(rig.gateway, { body: {} })
    expect(refused.headers.get('x-ratelimit-limit')).toBeNull()
  })
})

describe('requests per minute', () => {
  test('beyond the limit are rejected before the body is read, with the time to wait', async () => {
    const customer = await limited({ requests_per_minute: 3 })
    const firstAskedAt = Date.now()
    for (let count = 0; count < 3; count++) expect((await models(customer)).status).toBe(200)
    const askedAt = Date.now()
    const refused = await sendRequest(rig.gateway, { key: customer.key, body: 'not json' })
    const answeredAt = Date.now()
    expect(refused.status).toBe(429)
    expect(refused.error).toMatchObject({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      details: { limit: 3, window: 60 },
    })
    const waitMs = Number(refused.headers.get('retry-after-ms'))
    // Until the first one is a minute old. Two clocks are rounded.
    expect(waitMs).toBeWithin(firstAskedAt + windowMs - answeredAt - 2, windowMs + 1)
    const waitSeconds = Math.ceil(waitMs / 1000)
    expect(refused.headers.get('retry-after')).toBe(String(waitSeconds))
    expect(refused.error.details?.['retry_after']).toBe(waitSeconds)
    expect(quota(refused)).toEqual([3, 0])
    const reset = Number(refused.headers.get('x-ratelimit-reset'))
    expect(reset).toBeWithin((askedAt + waitMs) / 1000 - 2, (answeredAt + waitMs) / 1000 + 2)
  })

  test('from all keys of an account count together; a key may have less', async () => {
    const customer = await limited(
      { requests_per_minute: 4 },
      { rate_limit_requests_per_minute: 2 },
    )
    const path = `/users/${customer.userId}/keys`
    const { key } = await rig.gateway.admin('POST', path, { name: 'second' })
    const second = { ...customer, key: String(key) }
    expect(quota(await models(customer))).toEqual([2, 1])
    expect(quota(await models(customer))).toEqual([2, 0])
    const refused = await models(customer)
    expect([refused.status, quota(refused)]).toEqual([429, [2, 0]])
    expect(quota(await models(second))).toEqual([4, 1])
    expect(quota(await models(second))).toEqual([4, 0])
    expect((await models(second)).error.details).toMatchObject({ limit: 4 })
  })

  test('from one account do not count for another', async () => {
    const full = await limited({ requests_per_minute: 1 })
    await models(full)
    expect((await models(full)).status).toBe(429)
    expect((await models(await limited({ requests_per_minute: 1 }))).status).toBe(200)
  })

  test('a new account has 60, by the plan free', async () => {
    const { plans: found } = await rig.gateway.admin('GET', '/plans?search=free')
    const [free] = Array.isArray(found) ? found : []
    const customer = await rig.gateway.customer({}, { plan_id: free.id })
    const answers = await Promise.all(Array.from({ length: 70 }, () => models(customer)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
  })

  test('a changed plan, and an override, hold soon', async () => {
    const customer = await limited({ requests_per_minute: 2 })
    expect(quota(await models(customer))).toEqual([2, 1])
    const user = await rig.gateway.admin('GET', `/users/${customer.userId}`)
    const soon = async (limit: number) => {
      const tookMs = await eventually(async () => quota(await models(customer))[0] === limit)
      recordFigure(`a changed limit of ${limit}`, tookMs, { unit: 'ms', atMost: 1000 })
    }
    await rig.gateway.admin('PUT', `/plans/${String(user['plan_id'])}`, {
      requests_per_minute: 1000,
    })
    await soon(1000)
    await rig.gateway.admin('PUT', `/users/${customer.userId}`, {
      limits: { requests_per_minute: 2000 },
    })
    await soon(2000)
  })

  test('sends no headers without a limit, and rejects nothing', async () => {
    const customer = await limited({})
    const answers = await Promise.all(Array.from({ length: 100 }, () => models(customer)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(answers[0]?.headers.get('x-ratelimit-limit')).toBeNull()
  })
})

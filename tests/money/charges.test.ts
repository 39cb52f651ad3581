import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { expectSoundLedger, type CompletedRequest } from '../harness/ledger-oracle'
import {
  accountOf,
  waitUntilBooked,
  findBooked,
  findBookedOnce,
  reportedCost,
  startBilling,
  outputPrice,
  priceOf,
  requestIdOf,
  type Billing,
} from '../harness/ledger'
import { freePort } from '../harness/free-port'
import { sendRequest, sendRaw, messages, type Json } from '../harness/http'
import { eventually } from '../../server/testing/eventually'
import type { RawClient } from '../harness/raw-client'
import type { Customer } from '../harness/server'
import { eventOf, idOf } from './open-stream'
import { recordFigure } from '../../server/testing/figures'

const dollar = 1_000_000_000n
const completed: CompletedRequest[] = []
/** What the provider was asked by all tests so far. */
let attempts = 0

let bill: Billing

beforeAll(async () => {
  bill = await startBilling({ environment: { LOG_LEVEL: 'warn', REQUEST_TIMEOUT_SECONDS: '5' } })
})
afterEach(() => {
  attempts += bill.rig.upstream.requests().length
  bill.rig.upstream.reset()
})
afterAll(async () => {
  await waitUntilBooked(bill.sql, attempts)
  bill.rig.gateway.recorder.verify()
  await expectSoundLedger(bill.sql, { completed, attempts })
  await bill[Symbol.asyncDispose]()
})

/** A stream on a connection of its own; its request id is in its head. */
async function open({ key }: Customer, name: string, fields: Json = {}): Promise<RawClient> {
  const body = { model: await bill.rig.model(name), messages, stream: true, ...fields }
  return sendRaw(bill.rig.gateway, { key, body })
}

/** The rest of a balance after one event, and nothing of it held. */
async function expectLeft(customer: Customer, left: bigint): Promise<void> {
  expect((await accountOf(bill.sql, customer)).posted).toBe(left)
}

test('an event has the time of a stream’s first answer, and none for a whole answer', async () => {
  const customer = await bill.customer(dollar)
  using client = await open(customer, 'slow-first-150', { max_tokens: 50 })
  await client.until((received) => received.includes('[DONE]'))
  const event = await eventOf(bill, client)
  expect(event.firstTokenMs).toBeGreaterThanOrEqual(150)
  expect(event.firstTokenMs).toBeLessThanOrEqual(event.durationMs)
  const whole = await findBookedOnce(bill.sql, await bill.chat(customer, 'ok', { max_tokens: 50 }))
  expect(whole.firstTokenMs).toBeNull()
})

/** What requests cost that were not answered. */
async function paidFor({ userId }: Customer): Promise<bigint> {
  const [{ cost }] = await bill.sql`
    select coalesce(sum(cost), 0)::text as cost from usage_event
    where user_id = ${userId} and outcome <> 'ok'`
  return BigInt(cost)
}

describe('M07: the hold of a failed request is available to the next', () => {
  const fields = { max_tokens: 200, stream: false }
  /** What of it is paid, where that is certain: M10. */
  type Paid = 'nothing' | 'prompt' | undefined
  const failures: [string, (customer: Customer) => Promise<unknown>, Paid][] = [
    ['the provider refuses', (who) => bill.chat(who, 'status-400', fields), 'nothing'],
    ['the provider fails', (who) => bill.chat(who, 'status-500', fields), 'nothing'],
    ['it is busy', (who) => bill.chat(who, '503-storm', fields), 'nothing'],
    ['it talks nonsense', (who) => bill.chat(who, 'half-json', fields), 'nothing'],
    ['it is silent for too long', (who) => bill.chat(who, 'slow-first-50000', fields), 'prompt'],
    ['it fails before the first event', (who) => bill.stream(who, 'status-500', fields), 'nothing'],
    [
      'the caller leaves before the first byte',
      (who) => leaving(who, 'slow-first-50000'),
      'prompt',
    ],
    // Its provider may have been asked by then.
    ['the caller leaves at once', (who) => leaving(who, 'slow-first-50000', true), undefined],
    [
      'the request is rejected',
      (who) => bill.chat(who, 'ok', { ...fields, temperature: 'hot' }),
      'nothing',
    ],
  ]

  async function leaving(who: Customer, name: string, isAtOnce = false) {
    using client = await open(who, name, fields)
    await (isAtOnce ? Bun.sleep(0) : eventually(() => bill.rig.upstream.requests().length === 1))
    client.close()
    // Free of charge, and refused for want of credit until the hold has come back.
    await eventually(async () => (await bill.chat(who, 'status-400', fields)).status !== 402)
  }

  test.each(failures)('%s', async (_what, fail, paid) => {
    // Names are of different lengths, and so are the bytes that are held for.
    const worst = (await bill.floorOf('slow-first-50000', fields)) + 20_000n
    const customer = await bill.customer(worst)
    await fail(customer)
    const next = async () => (await bill.chat(customer, 'ok', fields)).status === 200
    // Where nothing tells whether the request has arrived, it may do so now.
    await (paid ? expect(next()).resolves.toBe(true) : eventually(next))
    const answer = await bill.chat(customer, 'ok', { ...fields, max_tokens: 150 })
    expect(answer.status).toBe(200)
    await findBooked(bill.sql, [requestIdOf(answer)])
    await eventually(async () => {
      const left = worst - 2n * reportedCost(answer) - (await paidFor(customer))
      return (await accountOf(bill.sql, customer)).posted === left
    })
    if (paid) expect(await paidFor(customer)).toBe(paid === 'prompt' ? priceOf(12, 0) : 0n)
  })
})

/** Asks a model whose first connection leads to `first`, its second to the fake provider. */
async function twice(key: string, first: string) {
  const { gateway, upstream } = bill.rig
  const model = `${key}/ok`
  const provider = { key, name: key, adapter: 'openai', base_url: upstream.url }
  await gateway.admin('POST', '/providers', provider)
  for (const [index, endpoint_url] of [first, upstream.url].entries()) {
    const own = { name: `${key}-${index}`, provider: key, api_key: `sk-${index}-0123456789` }
    await gateway.admin('POST', '/connections', { ...own, endpoint_url, priority: index + 1 })
  }
  const priced = { id: model, name: model, category: 'chat', pricing: { input: 1, output: 4 } }
  await gateway.admin('POST', '/models', priced)
  const customer = await bill.customer(dollar)
  const answer = await sendRequest(gateway, { key: customer.key, body: { model, messages } })
  expect(answer.status).toBe(200)
  const events = await findBooked(bill.sql, [requestIdOf(answer)])
  expect(events.map(({ outcome }) => outcome)).toEqual(['failed_over', 'ok'])
  expect(events.map(({ cost }) => cost)).toEqual([0n, reportedCost(answer)])
  expect(reportedCost(answer)).toBe(BigInt(upstream.bill().attempts[0]?.nanos ?? 0))
  await expectLeft(customer, dollar - reportedCost(answer))
}

describe('M09: two attempts', () => {
  test('are two events of one request; only the successful one costs', async () => {
    await twice('refused', `http://127.0.0.1:${freePort()}/v1`)
  })

  test('the house bears the first one where its provider billed it and then failed', async () => {
    const billed: string[] = []
    await using failing = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        billed.push(await request.text())
        return Response.json(
          { error: { message: 'It failed.', type: 'server_error' } },
          { status: 500 },
        )
      },
    })
    await twice('billed', `http://127.0.0.1:${failing.port}/v1`)
    expect(billed).toHaveLength(1)
  })

  test('a possibly billed attempt causes no other, and costs the caller nothing', async () => {
    const customer = await bill.customer(dollar)
    const answer = await bill.chat(customer, 'close-after-0+bill-full')
    expect(answer.status).toBe(502)
    expect(bill.rig.upstream.requests()).toHaveLength(1)
    expect(await findBookedOnce(bill.sql, answer)).toMatchObject({ cost: 0n, writtenOff: 0n })
    await expectLeft(customer, dollar)
  })
})

describe('M16: a running request is settled to the account of its hold; the next is rejected', () => {
  const endings: [string, (customer: Customer) => Promise<unknown>, number][] = [
    [
      'the key is deleted',
      ({ userId, keyId }) => bill.rig.gateway.admin('DELETE', `/users/${userId}/keys/${keyId}`),
      401,
    ],
    [
      'the user is suspended',
      ({ userId }) =>
        bill.rig.gateway.admin('POST', `/users/${userId}/suspend`, { reason: 'a test' }),
      401,
    ],
  ]
  test.each(endings)('%s', async (_what, end, status) => {
    const customer = await bill.customer(dollar)
    const running = bill.stream(customer, 'held-20')
    await eventually(() => bill.rig.upstream.heldCount() === 1)
    await end(customer)
    // Within a second on every node; nothing that costs is asked meanwhile.
    const list = { path: '/v1/models', method: 'GET', key: customer.key }
    await eventually(async () => (await sendRequest(bill.rig.gateway, list)).status === status)
    expect((await bill.chat(customer, 'ok')).status).toBe(status)
    bill.rig.upstream.release()
    const answer = await running
    expect(answer.isDone).toBe(true)
    const event = await findBookedOnce(bill.sql, answer)
    expect(event).toMatchObject({ accountId: customer.userId, cost: priceOf(2, 20) })
    await expectLeft(customer, dollar - event.cost)
  })
})

describe('a client that disconnects', () => {
  test('S01: in mid-stream pays for the output so far', async () => {
    const customer = await bill.customer(dollar)
    // After 20 words it waits, so that a client that leaves late pays for no more.
    using client = await open(customer, 'held-21', { max_tokens: 1000 })
    await client.until((received) => received.includes(' w20'))
    client.close()
    const tookMs = await eventually(() => bill.rig.upstream.requests()[0]?.closedBy === 'peer')
    recordFigure('S01: cancelling at the provider', tookMs, { unit: 'ms', atMost: 1000 })
    const event = await eventOf(bill, client)
    expect(event).toMatchObject({ outcome: 'cancelled', estimated: true, writtenOff: 0n })
    // 20 words of 61 bytes; no tokenizer makes more than a token of each character.
    expect(event.outputTokens).toBeWithin(10, 70)
    expect(event.inputTokens).toBeWithin(2, 20)
    expect(event.cost).toBe(priceOf(event.inputTokens, event.outputTokens))
    await expectLeft(customer, dollar - event.cost)
  })

  test('S02: before the first event pays for the prompt that its provider was sent', async () => {
    const customer = await bill.customer(dollar)
    const body = { model: await bill.rig.model('slow-first-50000'), messages, stream: true }
    using client = await sendRaw(bill.rig.gateway, { key: customer.key, body })
    await eventually(() => bill.rig.upstream.requests().length === 1)
    client.close()
    await eventually(async () => (await accountOf(bill.sql, customer)).posted !== dollar)
    await expectLeft(customer, dollar - priceOf(12, 0))
  })

  test('S06: in the very moment of [DONE] pays once, in full', async () => {
    const customer = await bill.customer(100n * dollar)
    const leave = async (index: number) => {
      const client = await open(customer, 'chunks-20')
      // Every third leaves a little before its end, every third a little later.
      const mark = ['"finish_reason":"stop"', '[DONE]', ' w20'][index % 3] ?? ''
      await client.until((received) => received.includes(mark))
      const wasDone = client.read().includes('[DONE]')
      client.close()
      return { client, wasDone }
    }
    const clients: Awaited<ReturnType<typeof leave>>[] = []
    // As many at once as are far from the time-out of this gateway.
    for (let wave = 0; wave < 3; wave++) {
      const leaving = Array.from({ length: 100 }, (_, index) => leave(100 * wave + index))
      clients.push(...(await Promise.all(leaving)))
    }
    const events = await findBooked(
      bill.sql,
      clients.map(({ client }) => idOf(client)),
    )
    expect(events).toHaveLength(300)
    const costs = new Map(events.map(({ requestId, cost }) => [requestId, cost]))
    const done = clients.filter(({ wasDone }) => wasDone)
    expect(done.length).toBeGreaterThanOrEqual(100)
    for (const { client } of done) expect(costs.get(idOf(client))).toBe(priceOf(2, 20))
    const sum = events.reduce((total, { cost }) => total + cost, 0n)
    await expectLeft(customer, 100n * dollar - sum)
    for (const { client } of done) completed.push({ requestId: idOf(client), cost: priceOf(2, 20) })
  })

  test('S08: after an explicit zero pays nothing', async () => {
    const customer = await bill.customer(100n * dollar)
    const options = { stream_options: { include_usage: true } }
    const leaving = async () => {
      using client = await open(customer, 'usage-zero', options)
      await client.until((received) => received.includes('"usage":{'))
      client.close()
      expect(await eventOf(bill, client)).toMatchObject({ cost: 0n, estimated: false })
    }
    await Promise.all(Array.from({ length: 20 }, leaving))
    await expectLeft(customer, 100n * dollar)
  })
})

test('S07: a provider that dies in mid-stream is paid for its delivered output, and called once', async () => {
  const customer = await bill.customer(dollar)
  const answer = await bill.stream(customer, 'rst-after-5+bill-sent')
  expect(answer.isDone).toBe(false)
  expect(answer.error.code).toBeDefined()
  expect(bill.rig.upstream.requests()).toHaveLength(1)
  const event = await findBookedOnce(bill.sql, answer)
  expect(event).toMatchObject({ estimated: true, writtenOff: 0n })
  // "w1 w2 w3 w4 w5": at least a token a word of what the caller saw, at most one a character.
  expect(event.outputTokens).toBeWithin(3, answer.content.length + 1)
  await expectLeft(customer, dollar - event.cost)
  expect(event.cost).toBeLessThan(100n * outputPrice)
})

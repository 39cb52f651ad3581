import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectSoundLedger, type CompletedRequest } from '../harness/ledger-oracle'
import {
  accountOf,
  waitUntilBooked,
  findBooked,
  reportedCost,
  nanosOf,
  startBilling,
  outputPrice,
  priceOf,
  requestIdOf,
  type Billing,
} from '../harness/ledger'
import { messages, sendRequest } from '../harness/http'

let billing: Billing
const completed: CompletedRequest[] = []

beforeAll(async () => {
  billing = await startBilling({ environment: { LOG_LEVEL: 'warn' } })
})
afterAll(async () => {
  const attempts = billing.rig.upstream.requests().length
  await waitUntilBooked(billing.sql, attempts)
  billing.rig.gateway.recorder.verify()
  await expectSoundLedger(billing.sql, { completed, attempts })
  await billing[Symbol.asyncDispose]()
})

test('M01: 1,000 at once on a balance for 10: 10 calls, 990 refusals, nothing overspent', async () => {
  // Reading is next to free, so that the worst case and the cost are the same but for a few units.
  const name = 'chunks-256-gap-1'
  await billing.rig.model(name, { pricing: { input: 0.000001, output: 4 } })
  const fields = { stream: true, max_tokens: 256 }
  const worst = await billing.floorOf(name, fields)
  expect(Number(worst - 256n * outputPrice)).toBeWithin(0, 10)
  const customer = await billing.customer(10n * worst)
  const calls = () => billing.rig.upstream.requests().filter(({ model }) => model === name).length
  const answers = await Promise.all(
    Array.from({ length: 1000 }, () => billing.stream(customer, name, fields)),
  )
  expect(calls()).toBe(10)
  const good = answers.filter(({ status }) => status === 200)
  expect(good).toHaveLength(10)
  for (const { isDone } of good) expect(isDone).toBe(true)
  const refused = answers.filter(({ status }) => status === 402)
  expect(refused).toHaveLength(990)
  for (const { error } of refused) {
    expect(error).toMatchObject({ type: 'billing_error', code: 'insufficient_credits' })
    const { current_balance: current, minimum_required: required } = error.details ?? {}
    expect(nanosOf(required)).toBe(worst)
    expect(nanosOf(current)).toBeLessThan(worst)
  }
  const events = await findBooked(billing.sql, good.map(requestIdOf))
  const cost = events.reduce((sum, event) => sum + event.cost, 0n)
  expect(cost).toBe(BigInt(billing.rig.upstream.bill(name).completionTokens) * outputPrice + 10n)
  const { posted } = await accountOf(billing.sql, customer)
  expect(posted).toBe(10n * worst - cost)
  for (const { requestId, cost: own } of events) completed.push({ requestId, cost: own })
  console.log(`M01: overspend ${cost > 10n * worst ? cost - 10n * worst : 0n} n$`)
})

describe('M05: the exact edges', () => {
  const requestedTokens = 1000
  const name = 'chunks-5'

  const edges: [string, bigint, number | undefined][] = [
    ['w', 0n, requestedTokens],
    ['w + 1', 1n, requestedTokens],
    ['w - 1', -1n, requestedTokens - 1],
    ['w less a token', -outputPrice, requestedTokens - 1],
    ['w less a token and a bit', -outputPrice - 1n, requestedTokens - 2],
    ['the price of the floor', -744n * outputPrice, 256],
    ['that - 1', -744n * outputPrice - 1n, undefined],
  ]
  test.each(edges)('%s', async (_what, difference, cap) => {
    const floor = await billing.floorOf(name, { max_tokens: requestedTokens })
    const worst = floor + 744n * outputPrice
    const customer = await billing.customer(worst + difference)
    const before = billing.rig.upstream.requests().length
    const answer = await billing.chat(customer, name, { max_tokens: requestedTokens })
    expect(billing.rig.upstream.requests()).toHaveLength(before + (cap === undefined ? 0 : 1))
    if (cap === undefined) {
      expect(answer.status).toBe(402)
      const { current_balance: current, minimum_required: required } = answer.error.details ?? {}
      expect([nanosOf(current), nanosOf(required)]).toEqual([floor - 1n, floor])
      return
    }
    expect(answer.status).toBe(200)
    expect(billing.rig.upstream.requests()[before]?.cap).toBe(cap)
    expect(reportedCost(answer)).toBe(priceOf(2, 5))
    completed.push({ requestId: requestIdOf(answer), cost: reportedCost(answer) })
  })
})

test('M02: a stream without a limit receives the limit of its payer’s credit', async () => {
  const name = 'rate-100000'
  await billing.rig.model(name, { max_output_tokens: 100_000, context_length: null })
  const floor = await billing.floorOf(name, { stream: true })
  const credit = floor + 300n * outputPrice
  const customer = await billing.customer(credit)
  const before = billing.rig.upstream.requests().length
  const answer = await billing.stream(customer, name)
  expect(answer.isDone).toBe(true)
  expect(billing.rig.upstream.requests()[before]?.cap).toBe(556)
  const [event] = await findBooked(billing.sql, [requestIdOf(answer)])
  expect(event).toMatchObject({ outputTokens: 556, cost: priceOf(2, 556), writtenOff: 0n })
  expect((await accountOf(billing.sql, customer)).posted).toBe(credit - priceOf(2, 556))
})

test.each([false, true])('M38: beyond the limit the house pays; stream %p', async (stream) => {
  const name = 'ignore-cap'
  const fields = { stream, max_tokens: 100 }
  const worst = await billing.floorOf(name, fields)
  const customer = await billing.customer(worst)
  const answer = await billing.chat(customer, name, fields)
  const [event] = await findBooked(billing.sql, [requestIdOf(answer)])
  // A stream is cut before the provider tells what it read.
  const cost = priceOf(stream ? (event?.inputTokens ?? 0) : 2, 100)
  expect(event).toMatchObject({ outputTokens: 100, writtenOff: 0n, cost, estimated: stream })
  if (!stream) expect(reportedCost(answer)).toBe(cost)
  expect((await accountOf(billing.sql, customer)).posted).toBe(worst - cost)
  expect(billing.rig.upstream.bill(name).completionTokens).toBeGreaterThanOrEqual(200)
})

test('a stream reports its usage, which is also its cost', async () => {
  const customer = await billing.customer(1_000_000_000n)
  const options = { stream_options: { include_usage: true } }
  const answer = await billing.stream(customer, 'chunks-33', options)
  expect(answer.text).toContain('"completion_tokens":33')
  expect((await findBooked(billing.sql, [requestIdOf(answer)]))[0]?.cost).toBe(priceOf(2, 33))
})

test('the balance is the grants minus the reported costs', async () => {
  const granted = 5_000_000_000n
  const customer = await billing.customer(granted)
  const names = ['ok', 'chunks-7', 'chunks-31', 'usage-cached-gt-prompt', 'usage-none']
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => billing.chat(customer, names[index % 5] ?? 'ok')),
  )
  for (const answer of answers) {
    expect(answer.status).toBe(200)
    completed.push({ requestId: requestIdOf(answer), cost: reportedCost(answer) })
  }
  await findBooked(billing.sql, answers.map(requestIdOf))
  const reported = answers.reduce((sum, answer) => sum + reportedCost(answer), 0n)
  expect(reported).toBeGreaterThan(60n * 1000n)
  expect((await accountOf(billing.sql, customer)).posted).toBe(granted - reported)
  const path = `/transactions?user_id=${customer.userId}`
  const { transactions } = await billing.rig.gateway.admin('GET', path)
  const [newest] = Array.isArray(transactions) ? transactions : []
  expect(nanosOf(newest.balance_after)).toBe(granted - reported)
})

describe('free requests', () => {
  test('needs no balance: free models, and the sandbox', async () => {
    const customer = await billing.customer(0n)
    await billing.rig.model('chunks-3', { is_free: true, pricing: null })
    const free = await billing.chat(customer, 'chunks-3')
    const { key } = customer
    const body = { model: 'sandbox/echo', messages }
    const sandbox = await sendRequest(billing.rig.gateway, { key, body })
    for (const answer of [free, sandbox]) {
      expect([answer.status, answer.headers.get('x-tollgate-cost')]).toEqual([200, '0'])
      const [event] = await findBooked(billing.sql, [requestIdOf(answer)])
      expect(event).toMatchObject({ state: 'settled', cost: 0n, accountId: null })
    }
  })
})
test('M37: a model without a price is rejected, before any provider is called', async () => {
  const customer = await billing.customer(1_000_000n)
  const before = billing.rig.upstream.requests().length
  for (const pricing of [null, { input: 0, output: 0 }, { input: 1, output: -1 }]) {
    const id = `fake/ok-${crypto.randomUUID().slice(0, 8)}`
    const model = { id, name: id, category: 'chat', pricing }
    await billing.rig.gateway.admin('POST', '/models', model).catch(() => undefined)
    const answer = await sendRequest(billing.rig.gateway, {
      key: customer.key,
      body: { model: id, messages },
    })
    expect(answer.status).toBeOneOf([404, 503])
  }
  expect(billing.rig.upstream.requests()).toHaveLength(before)
})

test('rejects accounts below the minimum balance, at any cost of the request', async () => {
  await using strict = await startBilling({ environment: { MINIMUM_BALANCE_USD: '0.1' } })
  const rich = await strict.customer(100_000_000n)
  const poor = await strict.customer(99_999_999n)
  expect((await strict.chat(rich, 'ok', { max_tokens: 1 })).status).toBe(200)
  const refused = await strict.chat(poor, 'ok', { max_tokens: 1 })
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  expect(refused.error.details).toMatchObject({
    current_balance: 0.099_999_999,
    minimum_required: 0.1,
  })
  expect(strict.rig.upstream.requests()).toHaveLength(1)
  await waitUntilBooked(strict.sql, 1)
  await expectSoundLedger(strict.sql, { attempts: 1 })
})

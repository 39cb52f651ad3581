import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { expectSoundLedger, type Seen } from './ledger-oracle'
import {
  accountOf,
  allBooked,
  bookedOf,
  costTold,
  nanosOf,
  openTill,
  outputPrice,
  priceOf,
  requestIdOf,
  type Till,
} from './till'
import { messages, ask } from '../faults/asking'

setDefaultTimeout(20_000)

let till: Till
const seen: Seen[] = []

beforeAll(async () => {
  till = await openTill({ environment: { LOG_LEVEL: 'warn' } })
})
afterAll(async () => {
  await allBooked(till.sql)
  till.rig.gateway.recorder.verify()
  await expectSoundLedger(till.sql, { seen, attempts: till.rig.upstream.seen().length })
  await till[Symbol.asyncDispose]()
})

test('M01: 1,000 at once on a balance for 10: 10 calls, 990 refusals, nothing overspent', async () => {
  // Reading is next to free, so that the worst case and the cost are the same but for a few units.
  const name = 'chunks-256-gap-1'
  await till.rig.model(name, { pricing: { input: 0.000001, output: 4 } })
  const fields = { stream: true, max_tokens: 256 }
  const worst = await till.floorOf(name, fields)
  expect(Number(worst - 256n * outputPrice)).toBeWithin(0, 10)
  const customer = await till.customer(10n * worst)
  const calls = () => till.rig.upstream.seen().filter(({ model }) => model === name).length
  const answers = await Promise.all(
    Array.from({ length: 1000 }, () => till.stream(customer, name, fields)),
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
  const events = await bookedOf(till.sql, good.map(requestIdOf))
  const cost = events.reduce((sum, event) => sum + event.cost, 0n)
  expect(cost).toBe(BigInt(till.rig.upstream.bill(name).completionTokens) * outputPrice + 10n)
  const { posted } = await accountOf(till.sql, customer)
  expect(posted).toBe(10n * worst - cost)
  for (const { requestId, cost: own } of events) seen.push({ requestId, cost: own })
  console.log(`M01: overspend ${cost > 10n * worst ? cost - 10n * worst : 0n} n$`)
})

describe('M05: the exact edges', () => {
  const asked = 1000
  const name = 'chunks-5'

  const edges: [string, bigint, number | undefined][] = [
    ['w', 0n, asked],
    ['w + 1', 1n, asked],
    ['w - 1', -1n, asked - 1],
    ['w less a token', -outputPrice, asked - 1],
    ['w less a token and a bit', -outputPrice - 1n, asked - 2],
    ['the price of the floor', -744n * outputPrice, 256],
    ['that - 1', -744n * outputPrice - 1n, undefined],
  ]
  test.each(edges)('%s', async (_what, difference, cap) => {
    const floor = await till.floorOf(name, { max_tokens: asked })
    const worst = floor + 744n * outputPrice
    const customer = await till.customer(worst + difference)
    const before = till.rig.upstream.seen().length
    const answer = await till.chat(customer, name, { max_tokens: asked })
    expect(till.rig.upstream.seen()).toHaveLength(before + (cap === undefined ? 0 : 1))
    if (cap === undefined) {
      expect(answer.status).toBe(402)
      const { current_balance: current, minimum_required: required } = answer.error.details ?? {}
      expect([nanosOf(current), nanosOf(required)]).toEqual([floor - 1n, floor])
      return
    }
    expect(answer.status).toBe(200)
    expect(till.rig.upstream.seen()[before]?.cap).toBe(cap)
    expect(costTold(answer)).toBe(priceOf(2, 5))
    seen.push({ requestId: requestIdOf(answer), cost: costTold(answer) })
  })
})

test('M02: a stream without a limit gets the one that its payer can pay', async () => {
  const name = 'rate-100000'
  await till.rig.model(name, { max_output_tokens: 100_000, context_length: null })
  const floor = await till.floorOf(name, { stream: true })
  const credit = floor + 300n * outputPrice
  const customer = await till.customer(credit)
  const before = till.rig.upstream.seen().length
  const answer = await till.stream(customer, name)
  expect(answer.isDone).toBe(true)
  expect(till.rig.upstream.seen()[before]?.cap).toBe(556)
  const [event] = await bookedOf(till.sql, [requestIdOf(answer)])
  expect(event).toMatchObject({ outputTokens: 556, cost: priceOf(2, 556), writtenOff: 0n })
  expect((await accountOf(till.sql, customer)).posted).toBe(credit - priceOf(2, 556))
})

test.each([false, true])('M38: beyond the limit the house pays; stream %p', async (stream) => {
  const name = 'ignore-cap'
  const fields = { stream, max_tokens: 100 }
  const worst = await till.floorOf(name, fields)
  const customer = await till.customer(worst)
  const answer = await till.chat(customer, name, fields)
  const [event] = await bookedOf(till.sql, [requestIdOf(answer)])
  // A stream is cut before the provider tells what it read.
  const cost = priceOf(stream ? (event?.inputTokens ?? 0) : 2, 100)
  expect(event).toMatchObject({ outputTokens: 100, writtenOff: 0n, cost, estimated: stream })
  if (!stream) expect(costTold(answer)).toBe(cost)
  expect((await accountOf(till.sql, customer)).posted).toBe(worst - cost)
  expect(till.rig.upstream.bill(name).completionTokens).toBeGreaterThanOrEqual(200)
})

test('the balance is what was granted less the costs that were told', async () => {
  const granted = 5_000_000_000n
  const customer = await till.customer(granted)
  const names = ['ok', 'chunks-7', 'chunks-31', 'usage-cached-gt-prompt', 'usage-none']
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => till.chat(customer, names[index % 5] ?? 'ok')),
  )
  for (const answer of answers) {
    expect(answer.status).toBe(200)
    seen.push({ requestId: requestIdOf(answer), cost: costTold(answer) })
  }
  await bookedOf(till.sql, answers.map(requestIdOf))
  const told = answers.reduce((sum, answer) => sum + costTold(answer), 0n)
  expect(told).toBeGreaterThan(60n * 1000n)
  expect((await accountOf(till.sql, customer)).posted).toBe(granted - told)
  const path = `/transactions?user_id=${customer.userId}`
  const { transactions } = await till.rig.gateway.admin('GET', path)
  const [newest] = Array.isArray(transactions) ? transactions : []
  expect(nanosOf(newest.balance_after)).toBe(granted - told)
})

describe('what costs nothing', () => {
  test('needs no balance: free models, and the sandbox', async () => {
    const customer = await till.customer(0n)
    await till.rig.model('chunks-3', { is_free: true, pricing: null })
    const free = await till.chat(customer, 'chunks-3')
    const { key } = customer
    const body = { model: 'sandbox/echo', messages }
    const sandbox = await ask(till.rig.gateway, { key, body })
    for (const answer of [free, sandbox]) {
      expect([answer.status, answer.headers.get('x-tollgate-cost')]).toEqual([200, '0'])
      const [event] = await bookedOf(till.sql, [requestIdOf(answer)])
      expect(event).toMatchObject({ state: 'settled', cost: 0n, accountId: null })
    }
  })
})
test('M37: a model without a price is refused, before anybody is asked', async () => {
  const customer = await till.customer(1_000_000n)
  const before = till.rig.upstream.seen().length
  for (const pricing of [null, { input: 0, output: 0 }, { input: 1, output: -1 }]) {
    const id = `fake/ok-${crypto.randomUUID().slice(0, 8)}`
    const model = { id, name: id, category: 'chat', pricing }
    await till.rig.gateway.admin('POST', '/models', model).catch(() => undefined)
    const answer = await ask(till.rig.gateway, {
      key: customer.key,
      body: { model: id, messages },
    })
    expect(answer.status).toBeOneOf([404, 503])
  }
  expect(till.rig.upstream.seen()).toHaveLength(before)
})

test('the minimum balance refuses whoever has less, whatever the request costs', async () => {
  await using strict = await openTill({ environment: { MINIMUM_BALANCE_USD: '0.1' } })
  const rich = await strict.customer(100_000_000n)
  const poor = await strict.customer(99_999_999n)
  expect((await strict.chat(rich, 'ok', { max_tokens: 1 })).status).toBe(200)
  const refused = await strict.chat(poor, 'ok', { max_tokens: 1 })
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  expect(refused.error.details).toMatchObject({
    current_balance: 0.099_999_999,
    minimum_required: 0.1,
  })
  expect(strict.rig.upstream.seen()).toHaveLength(1)
  await allBooked(strict.sql)
  await expectSoundLedger(strict.sql)
})

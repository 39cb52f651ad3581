import { beforeEach, expect, test } from 'bun:test'
import { combineBudgets, type Budget } from './budget'
import { estimateUsage } from './estimate'
import { Metering } from './metering'
import type { BillingMode, UsageEvent } from '../ledger/usage-event'
import { sampleConnection, sampleModel } from '../../testing/catalog/samples'
import { InsufficientCredit } from '../ledger/credit-demand'
import { Hold, LocalLease } from '../ledger/local-lease'

let lease: LocalLease
let events: UsageEvent[]
let feeMillionths: number

beforeEach(() => {
  lease = new LocalLease('lease of the pool', 0)
  lease.amount = 1_000_000n
  events = []
  feeMillionths = 0
})

const newMetering = () =>
  new Metering({
    credit: {
      of: () => ({
        hold: (need) => {
          if (lease.free < need.floor) throw new InsufficientCredit(lease.free, need.floor)
          return new Hold(lease, need.full < lease.free ? need.full : lease.free, () => undefined)
        },
      }),
    },
    restrictions: { of: () => undefined },
    minimumBalance: 0n,
    feeMillionths,
    usage: {
      begin: () => Promise.resolve(),
      settle: async (event) => {
        events.push(event)
        return event.cost
      },
    },
    onError: () => undefined,
  })

/** A limit of which `left` is left. */
function budgetOf(limit: bigint): Budget & { held: bigint } {
  return {
    held: 0n,
    heldAtMs: undefined,
    get remaining() {
      return limit - this.held
    },
    findTightest() {
      const window = { fromMs: 0, toMs: Infinity }
      const remaining = limit - this.held
      return { remaining, limit: { id: 'user_1', requests: null, spend: limit }, window }
    },
    take(demand) {
      this.held = 0n
      return this.extend(demand)
    },
    extend({ full, floor }) {
      const left = limit - this.held
      const amount = left < full ? left : full
      const tightest = this.findTightest()
      if (amount < floor && tightest) return tightest
      this.held += amount
      return amount
    },
    hold(amount) {
      this.held = amount
    },
    add(amount) {
      this.held += amount
    },
  }
}

// An input token costs 1, one of output 10: the worst case is 10,100, the least one 2,660.
const model = sampleModel({ pricing: { input: 1_000_000n, output: 10_000_000n } })
const volume = {
  inputTokens: 100,
  choices: 1,
  outputLimit: 1000,
  extraOutputTokens: 0,
  inputsAudio: false,
  outputsAudio: false,
  images: 0,
  requests: 1,
  maxPromptTokens: 1,
  serviceTier: undefined,
  searches: 0,
}

const attempt = (mode: BillingMode) => ({
  model,
  provider: { key: 'fake' },
  connection: sampleConnection(),
  billing: { mode, payer: 'org_1', organizationId: 'org_1' },
})

const meterOf = (metering: Metering) =>
  metering.meter({
    requestId: 'req_1',
    userId: 'user_1',
    keyId: 'key_1',
    operation: 'chat',
    streamed: true,
    hasOwnLimit: false,
    requestedModel: model.id,
    passedOver: [],
  })

/** Pays, is asked, and uses 100 tokens in and 10 out: a price of 200. */
async function run(mode: BillingMode, budgets: { spending?: Budget; sharedBudget?: Budget }) {
  const metering = newMetering()
  const paid = await metering.hold({ ...attempt(mode), ...budgets }, () => volume)
  const meter = meterOf(metering)
  meter.pay(paid)
  await meter.begin(attempt(mode))
  const usage = { ...estimateUsage({ promptTokens: 100 }), output: 10, estimated: false }
  const cost = await meter.end({ usage, outcome: 'ok' })
  return { paid, cost, event: events.at(-1) }
}

test('21.3: usage that an organization pays to its provider itself costs nothing, and its price is reported', async () => {
  const shared = budgetOf(20_000n)
  const { paid, cost, event } = await run('org_pays', { sharedBudget: shared })
  expect([cost, event?.cost, event?.price, event?.leaseId]).toEqual([0n, 0n, 200n, null])
  expect([paid?.hold, paid?.outputLimit, shared.held]).toEqual([undefined, 1000, 10_100n])
  expect(lease.spent).toBe(0n)
})

test('21.3: with a fee, the fee is charged, and the price still counts', async () => {
  feeMillionths = 100_000
  const shared = budgetOf(20_000n)
  const { cost, event } = await run('org_pays', { sharedBudget: shared })
  expect([cost, event?.price, shared.held, lease.spent]).toEqual([20n, 200n, 10_100n, 20n])
})

test('21.3: a pool that pays the price reports no other price', async () => {
  const { cost, event } = await run('platform', { sharedBudget: budgetOf(20_000n) })
  expect([cost, event?.price]).toEqual([200n, null])
})

test.each<[BillingMode, bigint]>([
  ['org_pays', 0n],
  ['org_pays', 10n],
  ['platform', 0n],
])('%s with a limit: the rest of the limit bounds the answer', async (mode, fee) => {
  feeMillionths = Number(fee) * 10_000
  const shared = budgetOf(5_100n)
  const { paid } = await run(mode, { sharedBudget: shared })
  expect(paid?.outputLimit).toBe(500)
  const refused = Promise.try(() => run(mode, { sharedBudget: budgetOf(2_659n) }))
  await expect(refused).rejects.toMatchObject({
    code: 'insufficient_credits',
    details: { current_balance: 0.000002659, minimum_required: 0.00000266 },
  })
  expect((await run(mode, { sharedBudget: budgetOf(2_660n) })).paid?.outputLimit).toBe(256)
})

test('3.1: the strictest of several limits applies, and each counts the holds', async () => {
  const [spending, shared] = [budgetOf(7_100n), budgetOf(5_100n)]
  const { paid } = await run('platform', { spending, sharedBudget: shared })
  expect([paid?.outputLimit, spending.held, shared.held]).toEqual([500, 5_100n, 5_100n])
})

test('a stream that outgrows its hold takes of the limit, too, and ends where that does', async () => {
  const metering = newMetering()
  const shared = budgetOf(13_000n)
  const paid = await metering.hold({ ...attempt('platform'), sharedBudget: shared }, () => volume)
  const meter = meterOf(metering)
  meter.pay(paid)
  const allowance = meter.allowance(1)
  expect([allowance?.tokens, shared.held]).toEqual([1000, 10_100n])
  expect(await allowance?.extend()).toBe(true)
  // 512 more are asked for; 290 are left.
  expect([allowance?.tokens, shared.remaining]).toEqual([1290, 0n])
  expect(await allowance?.extend()).toBe(false)
  expect([allowance?.tokens, shared.held]).toEqual([1290, 13_000n])
})

test('the tighter of two budgets limits; a single one is unchanged, and none means no limit', () => {
  const [one, other] = [budgetOf(5n), budgetOf(3n)]
  const joined = combineBudgets(one, other)
  expect(joined?.remaining).toBe(3n)
  expect(joined?.findTightest()).toEqual(other.findTightest())
  joined?.hold(2n)
  joined?.add(1n)
  expect([one.held, other.held, joined?.remaining]).toEqual([3n, 3n, 0n])
  expect(combineBudgets(one, undefined)).toBe(one)
  const boundless = {
    remaining: undefined,
    heldAtMs: undefined,
    findTightest: () => undefined,
    take: ({ full }: { full: bigint }) => full,
    extend: ({ full }: { full: bigint }) => full,
    hold: () => undefined,
    add: () => undefined,
  }
  expect([
    combineBudgets(boundless, one)?.remaining,
    combineBudgets(boundless, boundless)?.remaining,
  ]).toEqual([2n, undefined])
})

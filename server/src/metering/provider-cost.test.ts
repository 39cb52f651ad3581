import { beforeEach, describe, expect, test } from 'bun:test'
import { Metering } from './metering'
import type { Ending } from './meter'
import * as fc from '../../testing/property'
import { sampleConnection, sampleModel } from '../../testing/catalog/samples'
import type { Model, ModelCost, Pricing } from '../catalog/model'
import { Hold, LocalLease } from '../ledger/local-lease'
import type { BillingMode, UsageEvent } from '../ledger/usage-event'
import { noUsage, type Usage } from '../wire/usage'

let lease: LocalLease
let events: UsageEvent[]

beforeEach(() => {
  lease = new LocalLease('lease', 0)
  lease.amount = 10n ** 18n
  events = []
})

const newMetering = () =>
  new Metering({
    credit: { of: () => ({ hold: ({ full }) => new Hold(lease, full, () => undefined) }) },
    restrictions: { of: () => undefined },
    minimumBalance: 0n,
    feeMillionths: 100_000,
    usage: {
      begin: () => Promise.resolve(),
      settle: async (event) => {
        events.push(event)
        return event.cost
      },
    },
    onError: () => undefined,
  })

const volume = {
  inputTokens: 1000,
  choices: 1,
  outputLimit: 1000,
  extraOutputTokens: 0,
  inputsAudio: false,
  outputsAudio: false,
  images: 0,
  requests: 1,
  maxPromptTokens: 1000,
  serviceTier: undefined,
  searches: 0,
}

interface Run {
  model: Model
  mode?: BillingMode
  /** The account that owns the connection; null for the operator. */
  owner?: string | null
  usage: Usage
  ending?: Partial<Ending>
  /** The most time that is believed. */
  maxProcessingMs?: number
}

/** Runs one request, and returns its usage event. */
async function run({ model, mode = 'platform', owner = null, usage, ending, ...bounds }: Run) {
  const metering = newMetering()
  const billing = {
    mode,
    payer: mode === 'free' ? null : 'user_1',
    organizationId: null,
    isWaived: mode === 'house',
  }
  const attempt = {
    model,
    provider: { key: 'fake' },
    connection: { ...sampleConnection(), owner },
    billing,
  }
  const meter = metering.meter({
    requestId: 'req_1',
    userId: 'user_1',
    keyId: 'key_1',
    operation: 'chat',
    streamed: false,
    hasOwnLimit: false,
    requestedModel: model.id,
    passedOver: [],
  })
  const reservation = await metering.hold(attempt, () => ({ ...volume, ...bounds }))
  meter.pay(reservation, () => volume)
  await meter.begin(attempt)
  await meter.end({ usage, outcome: 'ok', ...ending })
  const event = events.at(-1)
  if (!event) throw new Error('nothing was booked')
  return event
}

const usd = 1_000_000_000n
const used: Usage = { ...noUsage, input: 100, output: 10 }
const pricing: Pricing = { input: 2n * usd, output: 8n * usd }
const published: ModelCost = {
  pricing: { input: usd, output: 4n * usd },
  source: 'published',
}
/** 100 tokens in and 10 out at these. */
const [price, cost] = [280_000n, 140_000n]

describe('the cost of a provider', () => {
  test.each([
    ['its price, on a connection of the platform', { mode: 'platform' }, [price, cost]],
    ['its price, where the house pays for the account', { mode: 'house' }, [0n, cost]],
    ['nothing, with a key of the account', { mode: 'byok', owner: 'user_1' }, [price / 10n, 0n]],
    ['nothing, where a member pays', { mode: 'member_pays', owner: 'org_1' }, [price, 0n]],
    ['nothing, for a request without usage', { ending: { usage: undefined } }, [0n, 0n]],
    ['nothing, for an answer that it does not bill', { ending: { isFree: true } }, [0n, 0n]],
    [
      'its price, for an answer that the operator waives',
      { ending: { isFree: true, isWaived: true } },
      [0n, cost],
    ],
  ] as const)('is %s', async (_case, how, amounts) => {
    const model = sampleModel({ pricing, cost: published })
    const event = await run({ model, usage: used, ...how })
    expect([event.cost, event.providerCost]).toEqual([...amounts])
  })

  test('equals the price of a model at its published cost', async () => {
    const event = await run({ model: sampleModel({ pricing }), usage: used })
    expect([event.cost, event.providerCost]).toEqual([price, price])
  })

  test('is unknown for a model without a known cost', async () => {
    const event = await run({ model: sampleModel({ pricing, cost: null }), usage: used })
    expect([event.cost, event.providerCost]).toEqual([price, null])
  })

  test('is its price for a model that is free', async () => {
    const zero = { input: 0n, output: 0n }
    const free = { pricing: zero, isFree: true }
    const billed = await run({
      model: sampleModel({ ...free, cost: published }),
      mode: 'free',
      usage: used,
    })
    expect([billed.cost, billed.providerCost]).toEqual([0n, cost])
    const local = await run({ model: sampleModel(free), mode: 'free', usage: used })
    expect([local.cost, local.providerCost]).toEqual([0n, 0n])
  })

  test('has units that the price does not charge', async () => {
    const byTime = { pricing: { input: 0n, output: 0n, second: usd }, source: 'operator' } as const
    const event = await run({
      model: sampleModel({ pricing, cost: byTime }),
      usage: { ...used, processingMs: 1500 },
      maxProcessingMs: 60_000,
    })
    expect([event.cost, event.providerCost]).toEqual([price, (3n * usd) / 2n])
  })
})

const rate = fc.bigInt({ min: 1n, max: 100n * usd })
const prices = fc.record({ input: rate, cachedInput: rate, output: rate })
const usages = fc.record({
  input: fc.integer({ min: 0, max: 500 }),
  cachedInput: fc.integer({ min: 0, max: 500 }),
  output: fc.integer({ min: 0, max: 1000 }),
})

interface SampleRates {
  input: bigint
  cachedInput: bigint
  output: bigint
}

const withTier = (rates: SampleRates, other: SampleRates, above: number): Pricing => ({
  ...rates,
  tiers: [{ above, rates: other }],
})

/** Computes a cost by itself: the exact sum, rounded up. */
function toCost({ input, cachedInput, output }: Usage, rates: SampleRates): bigint {
  const millionths =
    BigInt(input) * rates.input +
    BigInt(cachedInput) * rates.cachedInput +
    BigInt(output) * rates.output
  return (millionths + 999_999n) / 1_000_000n
}

test('the margin of a request is its price less its cost, each exact and with the tiers of its own', async () => {
  const limits = fc.integer({ min: 1, max: 999 })
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(prices, prices, prices, prices),
      fc.tuple(limits, limits),
      usages,
      async ([usual, long, costUsual, costLong], [above, costAbove], counts) => {
        const usage = { ...noUsage, ...counts }
        const costPricing = withTier(costUsual, costLong, costAbove)
        const model = sampleModel({
          pricing: withTier(usual, long, above),
          cost: { pricing: costPricing, source: 'operator' },
        })
        const event = await run({ model, usage })
        const prompt = counts.input + counts.cachedInput
        const charge = toCost(usage, prompt > above ? long : usual)
        const billed = toCost(usage, prompt > costAbove ? costLong : costUsual)
        expect(event.cost).toBe(charge)
        expect(event.providerCost).toBe(billed)
        expect(event.cost - (event.providerCost ?? 0n)).toBe(charge - billed)
      },
    ),
  )
})

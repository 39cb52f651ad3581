import { describe, expect, test } from 'bun:test'
import type { Pricing } from './model'
import { selectPrice, getHighestRates, minuteOf, type TierConditions } from './price-tiers'

const ordinary: TierConditions = { promptTokens: 1000, serviceTier: undefined, minute: 0 }

/** As OpenAI and DeepSeek publish theirs: by length, by service tier, by the hour. */
const pricing: Pricing = {
  input: 100n,
  output: 600n,
  cachedInput: 10n,
  tiers: [
    { above: 272_000, rates: { input: 200n, output: 900n, cachedInput: 20n } },
    { serviceTier: 'flex', rates: { input: 50n, output: 300n } },
    { serviceTier: 'priority', rates: { input: 180n, output: 1080n } },
    { serviceTier: 'priority', above: 272_000, rates: { input: 360n } },
    { hours: { from: 16 * 60 + 30, until: 30 }, rates: { cachedInput: 1n } },
  ],
}
const at = (conditions: Partial<TierConditions>) =>
  selectPrice(pricing, { ...ordinary, minute: 600, ...conditions })

describe('finding P1: a request has the rates of the tiers that hold for it', () => {
  test('none of the tiers', () => {
    expect(at({})).toMatchObject({ rates: { input: 100n, output: 600n }, tier: undefined })
    expect(at({ promptTokens: 272_000 }).tier).toBeUndefined()
  })

  test('by the length of the prompt', () => {
    expect(at({ promptTokens: 272_001 })).toEqual({
      rates: { input: 200n, output: 900n, cachedInput: 20n },
      tier: 'above 272000 tokens',
    })
  })

  test('by the service tier; rates that a tier does not name stay', () => {
    expect(at({ serviceTier: 'flex' })).toEqual({
      rates: { input: 50n, output: 300n, cachedInput: 10n },
      tier: 'flex',
    })
    expect(at({ serviceTier: 'batch' }).tier).toBeUndefined()
  })

  test('by several at once, the later of two counts', () => {
    expect(at({ serviceTier: 'priority', promptTokens: 300_000 })).toEqual({
      rates: { input: 360n, output: 1080n, cachedInput: 20n },
      tier: 'above 272000 tokens, priority, priority above 272000 tokens',
    })
  })

  test.each([
    [16 * 60 + 29, 10n],
    [16 * 60 + 30, 1n],
    [0, 1n],
    [29, 1n],
    [30, 10n],
  ])('by the hour, past midnight too: minute %p', (minute, cachedInput) => {
    const { rates, tier } = at({ minute })
    expect(rates.cachedInput).toBe(cachedInput)
    expect(tier).toBe(cachedInput === 1n ? '16:30-00:30 UTC' : undefined)
  })

  test.each([
    [{ from: 60, until: 240 }, [60, 239], [59, 240]],
    // A whole day, as an entry of the catalogue has it for some days of the week.
    [{ from: 0, until: 0 }, [0, 720, 1439], []],
  ])(
    'by the hour, from its first minute to the last before its end: %j',
    (hours, within, beside) => {
      const hourly: Pricing = { input: 1n, output: 1n, tiers: [{ hours, rates: {} }] }
      const holds = (minute: number) =>
        selectPrice(hourly, { ...ordinary, minute }).tier !== undefined
      expect([within.every(holds), beside.some(holds)]).toEqual([true, false])
    },
  )

  test('the same tiers are one object, so that their results are computed once', () => {
    expect(at({ promptTokens: 300_000 })).toBe(at({ promptTokens: 400_000 }))
    expect(at({})).toBe(at({ promptTokens: 5 }))
    const flat: Pricing = { input: 1n, output: 2n }
    expect(selectPrice(flat, ordinary).rates).toBe(flat)
  })
})

describe('finding P1: the hold covers every tier in reach', () => {
  test('a short prompt has no hold at the price of a long one', () => {
    const rates = getHighestRates(pricing, { ...ordinary, minute: 600, promptTokens: 272_000 })
    expect(rates).toMatchObject({ input: 100n, output: 600n, cachedInput: 10n })
  })

  test('a possibly long prompt holds the highest price of both', () => {
    const rates = getHighestRates(pricing, { ...ordinary, minute: 600, promptTokens: 272_001 })
    expect(rates).toMatchObject({ input: 200n, output: 900n, cachedInput: 20n })
  })

  test('a service tier that a provider may not serve holds the ordinary one too', () => {
    const flex = getHighestRates(pricing, { ...ordinary, minute: 600, serviceTier: 'flex' })
    expect(flex).toMatchObject({ input: 100n, output: 600n })
    const priority = getHighestRates(pricing, { ...ordinary, minute: 600, serviceTier: 'priority' })
    expect(priority).toMatchObject({ input: 180n, output: 1080n })
  })
})

test('a minute is of the UTC day', () => {
  expect(minuteOf(Date.parse('2026-11-21T00:00:59Z'))).toBe(0)
  expect(minuteOf(Date.parse('2026-11-21T23:59:00Z'))).toBe(1439)
})

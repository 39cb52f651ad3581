import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { PricingFields, toPricing } from './pricing-fields'
import { maxPriceUsd } from '../wire/usd'
import { readPricing, toStoredPricing } from './stored-pricing'

/** Prices with up to nine decimals, and those at every bound; now and then one beyond, of which some may be accepted. */
const price = fc.oneof(
  fc.nat({ max: 2 ** 31 - 1 }).map((nanos) => nanos / 1e9),
  fc.constantFrom(0, 1e-9, maxPriceUsd, maxPriceUsd - 1e-3),
)
const beyond = fc.constantFrom(maxPriceUsd + 1, 999_999_999, 1e9, 1e9 + 1, 1e18, -1)
const optional = fc.option(price, { nil: undefined })

const sent = fc.record({
  input: fc.oneof({ weight: 9, arbitrary: price }, { weight: 1, arbitrary: beyond }),
  output: price,
  cached_input: optional,
  cached_audio_input: optional,
  cache_write: optional,
  reasoning: optional,
  audio_input: optional,
  audio_output: optional,
  image: optional,
  request: optional,
  cache_write_1h: optional,
  image_input: optional,
  image_output: optional,
  search: optional,
  input_characters: optional,
  output_characters: optional,
  second: optional,
  tiers: fc.option(
    fc.array(
      fc.record({
        above: fc.option(fc.integer({ min: 1, max: 1_000_000_000 })),
        service_tier: fc.constantFrom('flex', 'priority', 'batch'),
        from: fc.constant('16:30'),
        until: fc.constantFrom('00:30', '23:59'),
        input: optional,
        cached_input: optional,
        output_characters: optional,
        second: optional,
      }),
      { maxLength: 3 },
    ),
    { nil: undefined },
  ),
})

test('M7: every price that is accepted is read again as it was sent', () => {
  const property = fc.property(sent, (fields) => {
    const accepted = PricingFields.safeParse(fields)
    fc.pre(accepted.success)
    if (!accepted.success) return
    const pricing = toPricing(accepted.data)
    expect(readPricing(JSON.parse(toStoredPricing(pricing)))).toEqual(pricing)
  })
  fc.assert(property, { numRuns: 2000 })
})

test.each(Object.keys(PricingFields.shape).filter((name) => name !== 'tiers'))(
  'M7: %s has a bound, which the error names',
  (name) => {
    const priced = (usd: number) => PricingFields.safeParse({ input: 1, output: 1, [name]: usd })
    expect(priced(maxPriceUsd).success).toBeTrue()
    for (const usd of [maxPriceUsd + 1e-3, 1e9, Number.MAX_SAFE_INTEGER]) {
      expect(priced(usd).error?.issues).toMatchObject([
        { path: [name], code: 'too_big', maximum: maxPriceUsd },
      ])
    }
  },
)

test('M7: a price that an earlier version accepted is read, the highest too', () => {
  const stored = { input: '1000000000000000000', output: '1' }
  expect(readPricing(stored)).toEqual({ input: 1_000_000_000_000_000_000n, output: 1n })
  for (const input of ['1000000000000000001', '9999999999999999999', '10000000000000000000']) {
    expect(() => readPricing({ ...stored, input })).toThrow()
  }
})

test.each([
  [{}, ['tiers', 0, 'above'], 'required'],
  [{ from: '16:30' }, ['tiers', 0, 'until'], 'required'],
  [{ from: '16:30', until: '16:30' }, ['tiers', 0, 'until'], 'out_of_range'],
])('a tier without a condition that can hold is rejected: %j', (conditions, path, issue) => {
  const fields = { input: 1, output: 1, tiers: [{ ...conditions, input: 2 }] }
  const { error } = PricingFields.safeParse(fields)
  expect(error?.issues).toMatchObject([{ path, params: { issue } }])
})

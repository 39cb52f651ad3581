import { z } from 'zod'
import type { Rates } from './model'
import { rateFields, publicRates, toRatesAnswer, usdOf } from './pricing-fields'
import { storedUsd } from '../wire/usd'

/** The rates of a request's charge, and the tiers that they came from. */
export const ChargedPriceAnswer = z.object({
  tier: z
    .string()
    .nullable()
    .describe(
      'Such as `above 272000 tokens`, `flex` or `16:30-00:30 UTC`; null for the usual price',
    ),
  input: z.number().nullable(),
  output: z.number().nullable(),
  ...publicRates,
})

const Stored = z.record(z.string(), z.string())

/** Returns the rates of a usage event and its tier; null where its price is absent or damaged. */
export function readChargedPrice(
  column: unknown,
): { rates: Partial<Rates>; tier: string | null } | null {
  const stored = Stored.safeParse(column)
  if (!stored.success) return null
  const rates: Partial<Rates> = {}
  let name: keyof Rates
  for (name in rateFields) {
    const nanos = storedUsd.safeParse(stored.data[name])
    if (nanos.success) rates[name] = nanos.data
  }
  return { rates, tier: stored.data['tier'] ?? null }
}

/** Returns the price of a usage event for an answer; null where it is absent or damaged. */
export function toChargedPrice(column: unknown): z.output<typeof ChargedPriceAnswer> | null {
  const price = readChargedPrice(column)
  if (!price) return null
  const { rates, tier } = price
  return {
    tier,
    input: usdOf(rates.input),
    output: usdOf(rates.output),
    ...toRatesAnswer(rates),
  }
}

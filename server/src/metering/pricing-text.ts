import type { AppliedPrice } from '../catalog/price-tiers'
import type { Rates } from '../catalog/model'

const textsByRates = new WeakMap<Rates, Record<string, string>>()

/**
 * Formats a price as usage events have it: rates in nano-dollars as text, and `tier` where one applied. The
 * result is cached, as it is equal for all requests at these rates.
 */
export function formatPricing({ rates, tier }: AppliedPrice): Record<string, string> {
  const cachedText = textsByRates.get(rates)
  if (cachedText) return cachedText
  const text: Record<string, string> = {}
  for (const [name, rate] of Object.entries(rates)) {
    if (typeof rate === 'bigint') text[name] = String(rate)
  }
  if (tier !== undefined) text['tier'] = tier
  textsByRates.set(rates, text)
  return text
}

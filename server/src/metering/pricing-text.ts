import type { AppliedPrice } from '../catalog/price-tiers'
import type { Rates } from '../catalog/model'

const known = new WeakMap<Rates, Record<string, string>>()

/**
 * A price as usage events have it: rates in nano-dollars as text, and `tier` where one held. The same for all
 * requests at these rates, so it is made once.
 */
export function formatPricing({ rates, tier }: AppliedPrice): Record<string, string> {
  const made = known.get(rates)
  if (made) return made
  const text: Record<string, string> = {}
  for (const [name, rate] of Object.entries(rates)) {
    if (typeof rate === 'bigint') text[name] = String(rate)
  }
  if (tier !== undefined) text['tier'] = tier
  known.set(rates, text)
  return text
}

import type { Pricing } from '../catalog/model'

const known = new WeakMap<Pricing, Record<string, string>>()

/** A pricing as usage events have it; the same for all requests of a model, so it is made once. */
export function pricingText(pricing: Pricing): Record<string, string> {
  const made = known.get(pricing)
  if (made) return made
  const entries = Object.entries(pricing).map(([bucket, price]) => [bucket, String(price)] as const)
  const text = Object.fromEntries(entries)
  known.set(pricing, text)
  return text
}

import { costAt, selectUsagePrice } from './applied-price'
import type { TokenBounds } from './worst-case'
import type { Pricing } from '../catalog/model'
import type { Usage } from '../wire/usage'

interface Costed {
  /** The provider's price; null where it is unknown. */
  pricing: Pricing | null
  /** The minute of the UTC day in which the attempt began. */
  minute: number
  /** The bounds of its request. */
  volume: TokenBounds | undefined
}

/**
 * Computes what the provider bills the house for an attempt, in nano-dollars: a usage at the provider's price, as a charge
 * is computed at the model's. Null where it is unknown. Source: contract 11.6.
 */
export function computeProviderCost(
  usage: Usage,
  { pricing, minute, volume }: Costed,
): bigint | null {
  if (pricing === null) return null
  if (isZero(pricing)) return 0n
  if (!volume) return null
  return costAt(usage, selectUsagePrice(usage, { pricing, minute, volume }), volume)
}

/** Whether a price has no rate at all, like that of a free model. */
function isZero(pricing: Pricing): boolean {
  if (pricing.tiers) return false
  let name: keyof Pricing
  for (name in pricing) if (pricing[name] !== 0n) return false
  return true
}

import { costOf } from './cost'
import type { Volume } from './worst-case'
import type { Pricing, ServiceTier } from '../catalog/model'
import { appliedPrice, type AppliedPrice } from '../catalog/price-tiers'
import { promptTokens, type Usage } from '../wire/usage'

/** What decides on the price of a request that was held for. */
interface Held {
  pricing: Pricing
  /** The minute of the UTC day in which it was held. */
  minute: number
  volume: Volume
}

/**
 * The price that a request turned out to have: its tier by the prompt as it was counted, and by the service
 * tier that was asked for, unless the provider says that it served another. Prompts that were sent one by
 * one are judged by their mean.
 */
export function priceOfUsage(used: Usage, { pricing, minute, volume }: Held): AppliedPrice {
  const mean = Math.ceil(promptTokens(used) / Math.max(1, volume.requests))
  return appliedPrice(pricing, {
    // What was held for: a count beyond the model's context is none.
    promptTokens: Math.min(mean, volume.longestPrompt),
    serviceTier: servedTier(used, volume.serviceTier),
    minute,
  })
}

/** Never one that was not asked for: it was not held for. */
function servedTier({ servedTier: said }: Usage, asked: ServiceTier | undefined) {
  return said === undefined || said === asked ? asked : undefined
}

/** What a usage costs at the rates of its request, in nano-dollars. */
export const costAt = (used: Usage, { rates }: AppliedPrice, volume: Volume): bigint =>
  costOf(used, rates, {
    requests: volume.requests,
    images: volume.images,
    searches: Math.min(used.searches, volume.searches),
  })

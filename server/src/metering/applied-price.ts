import { computeCost } from './cost'
import type { TokenBounds } from './worst-case'
import type { Pricing, ServiceTier } from '../catalog/model'
import { selectPrice, type AppliedPrice } from '../catalog/price-tiers'
import { noUsage, promptTokens, type Usage } from '../wire/usage'

/** The facts of a hold that decide on the price of its request. */
interface Held {
  pricing: Pricing
  /** The minute of the UTC day in which the hold was taken. */
  minute: number
  volume: TokenBounds
}

/**
 * Returns the price that applies to a finished request: its tier by the counted prompt, and by the requested and
 * the served service tier. Prompts that were sent one by one are priced by their mean.
 */
export function selectUsagePrice(used: Usage, { pricing, minute, volume }: Held): AppliedPrice {
  const mean = Math.ceil(promptTokens(used) / Math.max(1, volume.requests))
  return selectPrice(pricing, {
    // Bounded by the hold: a count beyond the model's context is not believed.
    promptTokens: Math.min(mean, volume.maxPromptTokens),
    serviceTier: servedTier(used, volume.serviceTier),
    minute,
  })
}

/**
 * Never a tier that was not requested: the hold does not cover it. A discount applies where the provider reports
 * the tier as served: many leave out a field that they do not know, and bill the usual price.
 */
function servedTier({ servedTier: reported }: Usage, requested: ServiceTier | undefined) {
  if (reported === requested) return requested
  return reported === undefined && requested === 'priority' ? requested : undefined
}

/**
 * Computes the savings of a cache on a price, in nano-dollars: the price of its tokens as plain input, less their
 * cost. Below zero where writing cost more than reading saved.
 */
export function computeCacheSavings(used: Usage, { rates }: AppliedPrice): bigint {
  const { cachedInput, cacheWrite, cacheWriteLong } = used
  const cachedAudio = Math.min(used.cachedAudio ?? 0, cachedInput)
  const cached = cachedInput + cacheWrite + cacheWriteLong
  if (cached === 0) return 0n
  const read = { ...noUsage, cachedInput, cachedAudio, cacheWrite, cacheWriteLong }
  const plain = { ...noUsage, input: cached - cachedAudio, audioInput: cachedAudio }
  return computeCost(plain, rates) - computeCost(read, rates)
}

/** Computes a usage's cost at the rates of its request, in nano-dollars. */
export const costAt = (used: Usage, { rates }: AppliedPrice, volume: TokenBounds): bigint =>
  computeCost(used, rates, {
    requests: volume.requests,
    images: volume.images,
    searches: Math.min(used.searches, volume.searches),
    inputCharacters: used.inputCharacters,
    outputCharacters: used.outputCharacters,
    processingMs: used.processingMs,
  })

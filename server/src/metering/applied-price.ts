import { costOf } from './cost'
import type { Volume } from './worst-case'
import type { Pricing, ServiceTier } from '../catalog/model'
import { appliedPrice, type AppliedPrice } from '../catalog/price-tiers'
import { noUsage, promptTokens, type Usage } from '../wire/usage'

/** What decides on the price of a request that was held for. */
interface Held {
  pricing: Pricing
  /** The minute of the UTC day in which it was held. */
  minute: number
  volume: Volume
}

/**
 * The price that a request turned out to have: its tier by the prompt as it was counted, and by the service
 * tier that was asked for and served. Prompts that were sent one by
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

/**
 * Never one that was not asked for: it was not held for. A discount is given where the provider says that it
 * served it so: many leave out a field that they do not know, and bill the usual price.
 */
function servedTier({ servedTier: said }: Usage, asked: ServiceTier | undefined) {
  if (said === asked) return asked
  return said === undefined && asked === 'priority' ? asked : undefined
}

/**
 * What a cache saved of a price, in nano-dollars: its tokens as plain input, less what they cost. Below
 * zero where writing cost more than reading saved.
 */
export function cacheSavingsAt(used: Usage, { rates }: AppliedPrice): bigint {
  const { cachedInput, cacheWrite, cacheWriteLong } = used
  const cachedAudio = Math.min(used.cachedAudio ?? 0, cachedInput)
  const cached = cachedInput + cacheWrite + cacheWriteLong
  if (cached === 0) return 0n
  const read = { ...noUsage, cachedInput, cachedAudio, cacheWrite, cacheWriteLong }
  const plain = { ...noUsage, input: cached - cachedAudio, audioInput: cachedAudio }
  return costOf(plain, rates) - costOf(read, rates)
}

/** What a usage costs at the rates of its request, in nano-dollars. */
export const costAt = (used: Usage, { rates }: AppliedPrice, volume: Volume): bigint =>
  costOf(used, rates, {
    requests: volume.requests,
    images: volume.images,
    searches: Math.min(used.searches, volume.searches),
    inputCharacters: used.inputCharacters,
    outputCharacters: used.outputCharacters,
    processingMs: used.processingMs,
  })

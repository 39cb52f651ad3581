import { computeCost, type Pieces } from './cost'
import type { MadeBounds, TokenBounds } from './worst-case'
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
 * the served service tier; and the fee of a request that the provider states. Prompts that were sent one by one are
 * priced by their mean.
 */
export function selectUsagePrice(usage: Usage, { pricing, minute, volume }: Held): AppliedPrice {
  const requests = Math.max(1, volume.requests)
  const mean = Math.ceil(promptTokens(usage) / requests)
  const appliedPrice = selectPrice(pricing, {
    // Bounded by the hold: a count beyond the model's context is not believed.
    promptTokens: Math.min(mean, volume.maxPromptTokens),
    serviceTier: servedTier(usage, volume.serviceTier),
    minute,
    image: volume.imageBounds && believeMade(usage, volume.imageBounds),
  })
  return usage.requestFee === undefined
    ? appliedPrice
    : withRequestFee(appliedPrice, usage.requestFee / BigInt(requests))
}

/** The images of an answer as far as they are believed: a quality that was requested is that of the answer. */
function believeMade(
  { madeImages = 0, madePixels = 0, imageQuality }: Usage,
  bounds: MadeBounds,
): MadeBounds {
  const images = Math.min(madeImages, bounds.images)
  const pixels = madeImages > 0 ? Math.ceil(madePixels / madeImages) : 0
  return {
    images,
    pixels: Math.min(pixels, bounds.pixels),
    quality: bounds.quality ?? imageQuality,
  }
}

/** Replaces the fee of a request by a lower one: the hold does not cover a higher one, and no price has none. */
function withRequestFee({ rates, tier }: AppliedPrice, fee: bigint): AppliedPrice {
  const { request = 0n } = rates
  return { rates: fee < request ? { ...rates, request: fee } : rates, tier }
}

/**
 * Never a tier that was not requested: the hold does not cover it. A discount applies where the provider reports
 * the tier as served: many leave out a field that they do not know, and bill the usual price.
 */
function servedTier({ servedTier: reportedTier }: Usage, requestedTier: ServiceTier | undefined) {
  if (reportedTier === requestedTier) return requestedTier
  return reportedTier === undefined && requestedTier === 'priority' ? requestedTier : undefined
}

/**
 * Computes the savings of a cache on a price, in nano-dollars: the price of its tokens as plain input, less their
 * cost. Below zero where writing cost more than reading saved.
 */
export function computeCacheSavings(usage: Usage, { rates }: AppliedPrice): bigint {
  const { cachedInput, cacheWrite, cacheWriteLong } = usage
  const cachedAudio = Math.min(usage.cachedAudio ?? 0, cachedInput)
  const cachedTokens = cachedInput + cacheWrite + cacheWriteLong
  if (cachedTokens === 0) return 0n
  const cachedUsage = { ...noUsage, cachedInput, cachedAudio, cacheWrite, cacheWriteLong }
  const plain = { ...noUsage, input: cachedTokens - cachedAudio, audioInput: cachedAudio }
  return computeCost(plain, rates) - computeCost(cachedUsage, rates)
}

/** Computes a usage's cost at the rates of its request, in nano-dollars. */
export const costAt = (usage: Usage, { rates }: AppliedPrice, volume: TokenBounds): bigint =>
  computeCost(usage, rates, {
    requests: volume.requests,
    images: volume.images,
    searches: Math.min(usage.searches, volume.searches),
    inputCharacters: usage.inputCharacters,
    outputCharacters: usage.outputCharacters,
    processingMs: usage.processingMs,
    audioMs: usage.audioMs,
    ...(volume.imageBounds && toPieces(usage, volume.imageBounds)),
  })

function toPieces(usage: Usage, bounds: MadeBounds): Pieces {
  const { images, pixels } = believeMade(usage, bounds)
  const { madePixels = 0 } = usage
  return { madeImages: images, madePixels: Math.min(madePixels, images * pixels) }
}

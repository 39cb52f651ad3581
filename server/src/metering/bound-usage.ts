import { withMeasured } from './measured'
import { limitsAt, limitUsage, type TokenBounds } from './worst-case'
import type { Pricing } from '../catalog/model'
import type { Usage } from '../wire/usage'

/** The facts that decide how much of a provider's count is believed. */
interface UsageGrounds {
  volume: TokenBounds
  /** The paid output limit of each answer, and the tokens that a stream gained beyond it. */
  outputLimit: number
  gainedTokens: number
  contextLength: number | null
  /** Set where the caller set the output limit itself: it never pays beyond that. */
  hasOwnLimit: boolean
  /**
   * Set where the provider is an organization's: the count decides the organization's pay, or fills its members'
   * limits.
   */
  isOthers: boolean
  /** Undefined where nothing is charged. */
  pricing: Pricing | undefined
  /** The provider's price; undefined where the house pays none, null where it is unknown. */
  costPricing?: Pricing | null | undefined
  /** The duration of the attempt, in milliseconds. */
  elapsedMs: number
}

/** No more sound is believed than the file has. */
function withBoundedSound(usage: Usage, { audioMs: maxMs = 0 }: TokenBounds): Usage {
  const { audioMs } = usage
  if (audioMs === undefined || audioMs <= maxMs) return usage
  return { ...usage, audioMs: maxMs, flawed: usage.flawed || !usage.estimated }
}

/** The longest answer that is believed of a model with an unknown context. */
const contextOfUnknown = 131_072

/**
 * Bounds a provider's count to what is charged, shown and counted in limits. An estimate, a count that
 * contradicts itself, and the count of a third party never exceed the hold; that of the payer's own provider may:
 * its output up to the model's context, unless the caller set a limit; its input up to the bytes of the prompt, where
 * the hold is a closer one.
 */
export function boundUsage(usage: Usage, grounds: UsageGrounds): Usage {
  const { volume, outputLimit, gainedTokens, contextLength, hasOwnLimit, isOthers } = grounds
  const limits = limitsAt(volume, outputLimit)
  limits.output += gainedTokens
  const isTrusted = !usage.estimated && !usage.flawed && !isOthers
  if (isTrusted && volume.inputTokensByBytes !== undefined) limits.input = volume.inputTokensByBytes
  if (isTrusted && !hasOwnLimit) {
    limits.output = Math.max(limits.output, volume.choices * (contextLength ?? contextOfUnknown))
  }
  const believed = withBoundedSound(limitUsage(usage, limits), volume)
  const { pricing, costPricing, elapsedMs } = grounds
  const { output: outputTokens } = limits
  const pricedUsage = pricing
    ? withMeasured(believed, { pricing, volume, outputTokens, elapsedMs })
    : believed
  if (!costPricing || costPricing === pricing) return pricedUsage
  return withMeasured(pricedUsage, { pricing: costPricing, volume, outputTokens, elapsedMs })
}

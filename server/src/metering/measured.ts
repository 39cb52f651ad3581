import type { TokenBounds } from './worst-case'
import type { Pricing } from '../catalog/model'
import { pricedUnits } from '../catalog/priced-units'
import { maxCharacters } from '../wire/text-size'
import type { Usage } from '../wire/usage'

/** The facts that decide on the charged characters and time. */
export interface Measured {
  pricing: Pricing
  volume: TokenBounds
  /** The most output that is believed. */
  outputTokens: number
  /** The duration of the attempt, in milliseconds. */
  elapsedMs: number
}

/**
 * Returns a usage with the characters and the time that its price charges, never more than its hold covers. The
 * time is the provider's, else that of the attempt. The same object where the price has no such rate.
 */
export function withMeasured(usage: Usage, measurement: Measured): Usage {
  const { pricing, volume, outputTokens, elapsedMs } = measurement
  const units = pricedUnits(pricing)
  if (!units) return usage
  const { outputCharacters = 0, processingMs = Math.ceil(elapsedMs) } = usage
  return {
    ...usage,
    ...(units.characters && {
      inputCharacters: volume.inputCharacters ?? 0,
      outputCharacters: Math.min(outputCharacters, maxCharacters(outputTokens)),
    }),
    ...(units.seconds && { processingMs: Math.min(processingMs, volume.maxProcessingMs ?? 0) }),
  }
}

import { withMeasured } from './measured'
import { limitsAt, withinLimits, type Volume } from './worst-case'
import type { Pricing } from '../catalog/model'
import type { Usage } from '../wire/usage'

/** What decides how much of a provider's count is believed. */
interface Grounds {
  volume: Volume
  /** The limit that is paid for, of each answer, and what a stream got beyond it. */
  outputLimit: number
  gained: number
  contextLength: number | null
  /** The caller set the output limit itself: it never pays beyond that. */
  hasOwnLimit: boolean
  /** The provider is an organization's, which is paid by what it counts, or whose members' limits that fills. */
  isOthers: boolean
  /** Undefined where nothing is charged. */
  pricing: Pricing | undefined
  /** How long the attempt has run, in milliseconds. */
  elapsedMs: number
}

/** The longest answer that is believed of a model whose context is not known. */
const contextOfUnknown = 131_072

/**
 * What is charged, shown and counted in limits of a provider's count. An estimate, a count that contradicts
 * itself, and the count of a third party never go beyond the hold; that of the payer's own provider does, up
 * to the model's context, unless the caller set a limit.
 */
export function believedOf(usage: Usage, grounds: Grounds): Usage {
  const { volume, outputLimit, gained, contextLength, hasOwnLimit, isOthers } = grounds
  const limits = limitsAt(volume, outputLimit)
  limits.output += gained
  if (!usage.estimated && !usage.flawed && !hasOwnLimit && !isOthers) {
    limits.output = Math.max(limits.output, volume.choices * (contextLength ?? contextOfUnknown))
  }
  const believed = withinLimits(usage, limits)
  const { pricing, elapsedMs } = grounds
  if (!pricing) return believed
  return withMeasured(believed, { pricing, volume, outputTokens: limits.output, elapsedMs })
}

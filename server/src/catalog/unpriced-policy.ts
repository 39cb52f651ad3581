import type { Model, Pricing } from './model'
import { keepCost } from './model-cost'
import { isServable } from './is-priced'

/**
 * The operator's policy for models without a price on connections of the platform: they are refused, cost nothing, or
 * cost the rates given here, in nano-dollars a million tokens.
 */
export type UnpricedModels = 'refuse' | 'free' | { readonly input: bigint; readonly output: bigint }

const noRates: Pricing = { input: 0n, output: 0n }

/** Returns a model as the platform's connections serve it: the same object unless the operator's policy changes it. */
export function applyUnpricedPolicy(model: Model, unpriced: UnpricedModels): Model {
  if (unpriced === 'refuse' || isServable(model)) return model
  const cost = keepCost(model)
  return unpriced === 'free'
    ? { ...model, pricing: noRates, cost, isFree: true }
    : { ...model, pricing: unpriced, cost }
}

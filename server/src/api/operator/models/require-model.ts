import type { Catalog } from '../../../catalog/catalog'
import type { Model, ModelCost } from '../../../catalog/model'
import { keepCost } from '../../../catalog/model-cost'
import { toPricingAnswer } from '../../../catalog/pricing-fields'
import { ApiError } from '../../../errors'
import { toTimestamp } from '../../../http/fields'

export const toModelAnswer = (model: Model) => ({
  id: model.id,
  name: model.name,
  provider: model.provider,
  upstream_model: model.upstreamModel,
  category: model.category,
  context_length: model.contextLength,
  max_input_tokens: model.maxInputTokens,
  max_output_tokens: model.maxOutputTokens,
  dimensions: model.dimensions,
  capabilities: model.capabilities,
  pricing: model.pricing && toPricingAnswer(model.pricing),
  ...toCostAnswer(keepCost(model)),
  is_free: model.isFree,
  enabled: model.enabled,
  simulated: model.simulated,
  deprecated_at:
    model.deprecatedAt === null ? null : toTimestamp(new Date(model.deprecatedAt * 1000)),
  created_at: toTimestamp(new Date(model.createdAt * 1000)),
})

const toCostAnswer = (cost: ModelCost | null) => ({
  cost_pricing: cost && toPricingAnswer(cost.pricing),
  cost_source: cost && cost.source,
})

/** Throws `model_not_found`. */
export function requireModel(catalog: Catalog, id: string): Model {
  const model = catalog.snapshot.models.get(id)
  if (!model) throw new ApiError('model_not_found')
  return model
}

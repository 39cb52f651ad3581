import type { PricingFields } from './schema'
import type { Catalog } from '../../catalog/catalog'
import type { Model, Pricing } from '../../catalog/model'
import { ApiError } from '../../errors'
import { toTimestamp } from '../../http/fields'
import { toUsd } from '../../wire/usd'

export const toModelAnswer = (model: Model) => ({
  id: model.id,
  name: model.name,
  provider: model.provider,
  upstream_model: model.upstreamModel,
  category: model.category,
  context_length: model.contextLength,
  max_output_tokens: model.maxOutputTokens,
  dimensions: model.dimensions,
  capabilities: model.capabilities,
  pricing: model.pricing && toPricingAnswer(model.pricing),
  is_free: model.isFree,
  enabled: model.enabled,
  simulated: model.simulated,
  deprecated_at: model.deprecatedAt && toTimestamp(new Date(model.deprecatedAt * 1000)),
  created_at: toTimestamp(new Date(model.createdAt * 1000)),
})

const optionalUsd = (nanos: bigint | undefined) => (nanos === undefined ? null : toUsd(nanos))

export const toPricingAnswer = (pricing: Pricing) => ({
  input: toUsd(pricing.input),
  output: toUsd(pricing.output),
  cached_input: optionalUsd(pricing.cachedInput),
  cache_write: optionalUsd(pricing.cacheWrite),
  reasoning: optionalUsd(pricing.reasoning),
  audio_input: optionalUsd(pricing.audioInput),
  audio_output: optionalUsd(pricing.audioOutput),
  image: optionalUsd(pricing.image),
  request: optionalUsd(pricing.request),
  currency: 'USD' as const,
})

export function toPricing(fields: PricingFields): Pricing {
  const { input, output, image, request, reasoning } = fields
  const buckets = {
    cachedInput: fields.cached_input,
    cacheWrite: fields.cache_write,
    audioInput: fields.audio_input,
    audioOutput: fields.audio_output,
    reasoning,
    image,
    request,
  }
  const set = Object.entries(buckets).filter(([, price]) => price !== undefined && price !== null)
  return { input, output, ...Object.fromEntries(set) }
}

/** Throws `model_not_found`. */
export function found(catalog: Catalog, id: string): Model {
  const model = catalog.snapshot.models.get(id)
  if (!model) throw new ApiError('model_not_found')
  return model
}

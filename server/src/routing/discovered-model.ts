import type { DiscoveredModel } from '../catalog/discovered-model'
import type { Category, Model, Pricing } from '../catalog/model'
import type { OwnedConnection } from '../catalog/offer'
import { toOwnerPrice, type Priceable } from '../catalog/owner-price'

/**
 * Creates a model that only connections have. Only its name is known: it is taken for the endpoint's kind, its
 * provider enforces its sizes, and it is free unless its owner has set a price. Source: contract 7.1.
 */
export const toModel = (
  { id, provider, name, foundAt, pricing }: DiscoveredModel,
  kinds: readonly Category[],
  { ownerPriceLimits }: Priceable,
): Model =>
  withPrice(toOwnerPrice(pricing, ownerPriceLimits), {
    id,
    provider,
    name,
    upstreamModel: name,
    category: kinds.includes('chat') ? 'chat' : (kinds[0] ?? 'chat'),
    contextLength: null,
    maxInputTokens: null,
    maxOutputTokens: null,
    capabilities: {
      vision: true,
      audio: true,
      tools: true,
      reasoning: false,
      streaming: true,
      json_mode: true,
      json_schema: true,
    },
    enabled: true,
    createdAt: foundAt,
    deprecatedAt: null,
    dimensions: null,
    simulated: false,
  })

const withPrice = (pricing: Pricing | null, model: Omit<Model, 'pricing' | 'isFree'>): Model => ({
  ...model,
  pricing,
  isFree: pricing === null,
})

/**
 * Creates the discovered model as each connection has it, at the price of the connection's owner; undefined for a
 * connection without it. Equal prices share one object.
 */
export function toDiscoveredModel(model: Model, { ownerPriceLimits }: Priceable) {
  const modelsByPrice = new Map<Pricing | null, Model>()
  return ({ discovered }: Pick<OwnedConnection, 'discovered'>): Model | undefined => {
    const pricedModel = discovered.get(model.upstreamModel)
    if (!pricedModel) return undefined
    const sameModel = modelsByPrice.get(pricedModel.pricing)
    if (sameModel) return sameModel
    const own = withPrice(toOwnerPrice(pricedModel.pricing, ownerPriceLimits), model)
    modelsByPrice.set(pricedModel.pricing, own)
    return own
  }
}

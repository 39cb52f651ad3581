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
  priced(toOwnerPrice(pricing, ownerPriceLimits), {
    id,
    provider,
    name,
    upstreamModel: name,
    category: kinds.includes('chat') ? 'chat' : (kinds[0] ?? 'chat'),
    contextLength: null,
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

const priced = (pricing: Pricing | null, model: Omit<Model, 'pricing' | 'isFree'>): Model => ({
  ...model,
  pricing,
  isFree: pricing === null,
})

/**
 * Creates the discovered model as each connection has it, at the price of the connection's owner; undefined for a
 * connection without it. Equal prices share one object.
 */
export function toDiscoveredModel(model: Model, { ownerPriceLimits }: Priceable) {
  const known = new Map<Pricing | null, Model>()
  return ({ discovered }: Pick<OwnedConnection, 'discovered'>): Model | undefined => {
    const here = discovered.get(model.upstreamModel)
    if (!here) return undefined
    const same = known.get(here.pricing)
    if (same) return same
    const own = priced(toOwnerPrice(here.pricing, ownerPriceLimits), model)
    known.set(here.pricing, own)
    return own
  }
}

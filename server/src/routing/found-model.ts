import type { FoundModel } from '../catalog/found'
import type { Category, Model, Pricing } from '../catalog/model'
import type { OwnedConnection } from '../catalog/offer'
import { chargedPrice, type Priceable } from '../catalog/owner-price'

/**
 * A model that only connections have. Nothing is known of it but its name: it is taken for what the
 * endpoint wants, its sizes are its provider's to judge, and nobody pays unless its owner has set a
 * price. Source: contract 7.1.
 */
export const toModel = (
  { id, provider, name, foundAt, pricing }: FoundModel,
  kinds: readonly Category[],
  { ownerPriceLimits }: Priceable,
): Model =>
  priced(chargedPrice(pricing, ownerPriceLimits), {
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
 * Such a model as each connection has it, at the price of that one's owner; undefined for a connection
 * that has it not. One object for what costs the same.
 */
export function asFoundBy(model: Model, { ownerPriceLimits }: Priceable) {
  const known = new Map<Pricing | null, Model>()
  return ({ found }: Pick<OwnedConnection, 'found'>): Model | undefined => {
    const here = found.get(model.upstreamModel)
    if (!here) return undefined
    const same = known.get(here.pricing)
    if (same) return same
    const own = priced(chargedPrice(here.pricing, ownerPriceLimits), model)
    known.set(here.pricing, own)
    return own
  }
}

import type { Pricing } from './model'

/** The facts about a model that the catalogue does not list. */
export interface DiscoveredFacts {
  /** Unix seconds. */
  at: number
  /** The price that the connection's owner set for it; null for none. */
  pricing: Pricing | null
}

/** A model known only from connections that the caller may use. */
export interface DiscoveredModel {
  id: string
  provider: string
  /** The provider's name for it. */
  name: string
  /** Unix seconds. */
  foundAt: number
  /** The price that the owner of the first connection with it set; null for none. */
  pricing: Pricing | null
}

/** Builds the model from the key of its provider and its name there. */
export const toFoundModel = (
  provider: string,
  name: string,
  { at, pricing }: DiscoveredFacts,
): DiscoveredModel => ({
  id: `${provider}/${name}`,
  provider,
  name,
  foundAt: at,
  pricing,
})

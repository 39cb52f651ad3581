import type { Pricing } from './model'

/** What is known of a model that the catalogue has not. */
export interface DiscoveredFacts {
  /** Unix seconds. */
  at: number
  /** What the connection's owner wants for it; null for nothing. */
  pricing: Pricing | null
}

/** A model that is known only from connections that the caller may use. */
export interface DiscoveredModel {
  id: string
  provider: string
  /** What the provider calls it. */
  name: string
  /** Unix seconds. */
  foundAt: number
  /** What the owner of the first connection that has it wants for it; null for nothing. */
  pricing: Pricing | null
}

/** By the key of its provider and the name that it has there. */
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

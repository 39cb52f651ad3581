/** The load-balancing strategies for a collection's members. Source: contract 10.4. */
export const strategies = [
  'priority',
  'round_robin',
  'least_used',
  'random',
  'lowest_cost',
  'lowest_latency',
  'weighted',
] as const
export type Strategy = (typeof strategies)[number]

/** A model in a collection. */
export interface CollectionMember {
  /** `<provider>/<model>`. */
  modelId: string
  /** Lower comes first. */
  priority: number
  /** The probability of being drawn, relative to the others' weights. */
  weight: number
  /** Used only as the last fallback: in `auto-free`, the model whose answers Tollgate makes up itself. */
  isStandIn?: boolean
}

/** Models under one name, `collection/<name>`. */
export interface Collection {
  id: string
  name: string
  scope: 'individual' | 'organization' | 'system'
  strategy: Strategy
  /** The enabled ones, by priority, then in the order in which they were added. */
  members: readonly CollectionMember[]
  /** Unix seconds. */
  createdAt: number
}

/** The prefix of collections' names; never a provider. */
export const collectionPrefix = 'collection/'

/** The built-in collection: models that cost nothing, for all accounts. */
export const freeCollection = 'auto-free'

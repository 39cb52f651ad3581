/** How the members of a collection are put in order. Source: contract 10.4. */
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

/** A model that a collection may send a request to. */
export interface Member {
  /** `<provider>/<model>`. */
  modelId: string
  /** Lower comes first. */
  priority: number
  /** How often it is drawn, against the others' weights. */
  weight: number
  /** Asked only where nobody else is left: of `auto-free`, what Tollgate makes up itself. */
  isStandIn?: boolean
}

/** Models under one name, `collection/<name>`. */
export interface Collection {
  id: string
  name: string
  scope: 'individual' | 'organization' | 'system'
  strategy: Strategy
  /** The enabled ones, by priority, then in the order in which they were added. */
  members: readonly Member[]
  /** Unix seconds. */
  createdAt: number
}

/** What names of collections begin with; never a provider. */
export const collectionPrefix = 'collection/'

/** The collection that is there from the start: models that cost nothing, for everybody. */
export const freeCollection = 'auto-free'

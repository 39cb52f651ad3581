import type { Candidate, RoutingContext } from './candidate'
import type { CollectionRotation } from './collection-rotation'
import type { Demands, PassedMember } from './collections'
import type { MemberStats } from './member-stats'
import type { FindServing } from './provider-listed'
import type { AccountCatalogs } from '../catalog/account-catalog'
import type { AccountNames } from '../catalog/account-names'
import type { Mapped, Mappings } from '../catalog/mapping'
import type { Category, Model } from '../catalog/model'

/** The strategies of a sort over the models of a request. */
export type ModelSort = 'lowest_cost' | 'lowest_latency'

/** The models that a request lists, to be tried one after the other. */
export interface ModelList {
  /** After the request's own. */
  fallbacks: readonly string[]
  /** Their order; as they are listed where undefined. */
  sort: ModelSort | undefined
}

/** The dependencies of resolving, the same for all requests. */
export interface Routing {
  accounts: AccountCatalogs
  names: AccountNames
  stats: MemberStats
  rotation: Pick<CollectionRotation, 'take'>
  random: () => number
  /** The models that providers list themselves; without it only those of the catalogue exist. */
  providerLists?: FindServing | undefined
}

/** The name in a caller's request. */
export interface Question {
  name: string
  context: RoutingContext
  /** The categories of models that the endpoint serves. */
  kinds: readonly Category[]
  /** Read only for a collection, whose members are judged by them. */
  demands: Demands
  /** Mappings tried before the caller's own: of a preview. */
  first?: Mappings | undefined
  /** Whether the provider of a model may be left out. */
  bareNames?: boolean | undefined
  /** Further models that the request lists. */
  list?: ModelList | undefined
}

/** The resolution of a name: at least one candidate. */
export interface Resolution {
  /** The first candidate's model. */
  model: Model
  /** In the order in which they are tried; those of a collection have several models. */
  candidates: readonly Candidate[]
  passedOver: readonly PassedMember[]
  mapping: Mapped | undefined
  /** Its members were judged by the request's demands. */
  isCollection: boolean
}

import {
  findCandidates,
  explainNoCandidates,
  findModel,
  type Candidate,
  type RoutingContext,
} from './candidate'
import type { CollectionTurns } from './collection-turns'
import { shortlistMembers, type Demands, type PassedMember } from './collections'
import type { MemberStats } from './member-stats'
import { resolveName, type NameMeaning } from './resolve-name'
import type { AccountCatalogs } from '../catalog/account-catalog'
import type { AccountNames } from '../catalog/account-names'
import type { Mapped, Mappings } from '../catalog/mapping'
import type { Category, Model } from '../catalog/model'
import { ApiError } from '../errors'

/** The dependencies of resolving, the same for all requests. */
export interface Routing {
  accounts: AccountCatalogs
  names: AccountNames
  book: MemberStats
  turns: Pick<CollectionTurns, 'take'>
  random: () => number
}

/** The name in a caller's request. */
export interface Question {
  name: string
  ways: RoutingContext
  /** The categories of models that the endpoint serves. */
  kinds: readonly Category[]
  /** Called only for a collection, whose members are judged by it. */
  demands: () => Demands
  /** Mappings tried before the caller's own: of a preview. */
  first?: Mappings | undefined
}

/** The resolution of a name: at least one candidate. */
export interface Resolution {
  /** The first candidate's model. */
  model: Model
  /** In the order in which they are tried; those of a collection have several models. */
  candidates: readonly Candidate[]
  passedOver: readonly PassedMember[]
  mapped: Mapped | undefined
  /** Its members were judged by the request's demands. */
  isCollection: boolean
}

/**
 * Resolves a name for its caller, for calls and previews alike. For models of the catalogue without a promise in the
 * steady state. Throws or rejects with the errors of checks 5 to 9 of contract 4.8, for collections also with those
 * of 10.
 */
export function resolve(question: Question, routing: Routing): Resolution | Promise<Resolution> {
  const { name, ways, first } = question
  const { snapshot, caller } = ways
  const meaning = resolveName(name, { snapshot, caller, names: routing.names, first })
  if (meaning instanceof Promise) return meaning.then((known) => resolved(known, question, routing))
  return resolved(meaning, question, routing)
}

const nobody: readonly PassedMember[] = []

function resolved(
  meaning: NameMeaning,
  question: Question,
  routing: Routing,
): Resolution | Promise<Resolution> {
  if (meaning.kind === 'collection') return fromCollection(meaning, question, routing)
  const { ways, kinds } = question
  const { snapshot, caller, open } = ways
  const model = findModel({ snapshot, catalog: caller.catalog, open }, meaning.id, kinds)
  const all = findCandidates(model, ways)
  const direct = meaning.kind === 'direct' ? meaning.ownerId : undefined
  const candidates =
    direct === undefined ? all : all.filter(({ connection }) => connection.owner === direct)
  const [first] = candidates
  if (first) {
    const { mapped } = meaning
    return { model: first.model, candidates, passedOver: nobody, mapped, isCollection: false }
  }
  if (direct !== undefined) throw notThere(model, "There is no connection of that name's owner")
  if (ways.only !== undefined) throw notThere(model, 'The connection that was asked for is not one')
  return explainNoCandidates(model, ways, routing.accounts).then((denial) => {
    throw denial
  })
}

const notThere = ({ id }: Model, words: string) =>
  new ApiError('model_access_denied', {
    param: 'model',
    message: `${words} that serves "${id}".`,
    details: { model: id },
  })

async function fromCollection(
  { collection, mapped }: Extract<NameMeaning, { kind: 'collection' }>,
  { ways, kinds, demands }: Question,
  { book, turns, random }: Routing,
): Promise<Resolution> {
  const { candidates, passedOver } = await shortlistMembers(collection, {
    ways,
    kinds,
    demands: demands(),
    book,
    random,
    turn: () => turns.take(collection.id),
  })
  const [first] = candidates
  if (!first) throw new Error(`${collection.id} came to nobody`)
  const { model } = first
  // A legacy completion goes to models that complete or to models that chat, not to both.
  const alike = candidates.filter((candidate) => candidate.model.category === model.category)
  return { model, candidates: alike, passedOver, mapped, isCollection: true }
}
